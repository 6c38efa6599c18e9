// What people would ask of the demo directory, and what they would be content with.
//
// Written from what the shows are about, before anything was tuned. A query is judged by the facts of
// each show, and not by its words: what it is about, who hosts it, where it is made, what it is called.

/** A show is the better the more of these hold for it. */
export interface JudgedQuery {
  readonly q: string
  /** The topic that is meant. */
  readonly about?: string
  /** Words that should be in the show's texts beside the topic. */
  readonly words?: readonly string[]
  readonly host?: string
  readonly place?: string
  /** The exact name of the show that is meant. */
  readonly title?: string
}

export const judgedQueries: readonly JudgedQuery[] = [
  // A subject, in the words that everyone uses.
  { q: 'bird watching', about: 'bird watching' },
  { q: 'sourdough baking', about: 'sourdough baking' },
  { q: 'ancient rome', about: 'ancient rome' },
  { q: 'machine learning', about: 'machine learning' },
  { q: 'cold cases', about: 'cold cases' },
  { q: 'rock climbing', about: 'rock climbing' },
  { q: 'index funds', about: 'index funds' },
  { q: 'jazz piano', about: 'jazz piano' },
  { q: 'bedtime stories', about: 'bedtime stories' },
  { q: 'amateur radio', about: 'amateur radio' },
  { q: 'marine biology', about: 'marine biology' },
  { q: 'city planning', about: 'city planning' },
  { q: 'improv comedy', about: 'improv comedy' },
  { q: 'train travel', about: 'train travel' },
  { q: 'gothic fiction', about: 'gothic fiction' },
  { q: 'astronomy', about: 'astronomy' },
  { q: 'beekeeping', about: 'beekeeping' },
  { q: 'opera', about: 'opera' },
  { q: 'negotiation', about: 'negotiation' },
  { q: 'yoga', about: 'yoga' },
  { q: 'chess', about: 'chess' },
  { q: 'podcasts about the viking age', about: 'viking age' },
  { q: 'a show on tax policy', about: 'tax policy' },
  { q: 'talks about the cold war', about: 'cold war' },
  // A phrase in quotes.
  { q: '"silk road"', about: 'silk road' },
  { q: '"open source"', about: 'open source' },
  { q: '"street photography"', about: 'street photography' },
  // What the subject is made of.
  { q: 'warbler plumage', about: 'bird watching', words: ['warbler', 'plumage'] },
  { q: 'crust and crumb', about: 'sourdough baking', words: ['crust', 'crumb'] },
  { q: 'phishing malware', about: 'cyber security', words: ['phishing', 'malware'] },
  { q: 'mortgage deposit', about: 'house buying', words: ['mortgage', 'deposit'] },
  { q: 'lava eruption', about: 'volcanology', words: ['lava', 'eruption'] },
  { q: 'turntable needle', about: 'vinyl records', words: ['turntable', 'needle'] },
  { q: 'hive honey swarm', about: 'beekeeping', words: ['hive', 'honey', 'swarm'] },
  { q: 'peloton sprint', about: 'cycling', words: ['peloton', 'sprint'] },
  { q: 'fossil amber', about: 'palaeontology', words: ['fossil', 'amber'] },
  { q: 'ballot recount', about: 'election watch', words: ['ballot', 'recount'] },
  { q: 'nib ink paper', about: 'fountain pens', words: ['nib', 'ink', 'paper'] },
  { q: 'soprano aria', about: 'opera', words: ['soprano', 'aria'] },
  { q: 'kiln glaze', about: 'ceramics', words: ['kiln', 'glaze'] },
  { q: 'spores mycelium', about: 'mycology', words: ['spores', 'mycelium'] },
  { q: 'keyframes storyboard', about: 'animation', words: ['keyframes', 'storyboard'] },
  { q: 'harness belay', about: 'rock climbing', words: ['harness', 'belay'] },
  // Who speaks, and about what.
  { q: 'Olga Jarvis', host: 'Olga Jarvis' },
  { q: 'kamal pohl', host: 'Kamal Pohl' },
  { q: 'Nora Dahl music theory', host: 'Nora Dahl', about: 'music theory' },
  { q: 'Quentin Maren time travel', host: 'Quentin Maren', about: 'time travel' },
  { q: 'edda demir architecture', host: 'Edda Demir', about: 'architecture' },
  { q: 'greta palmer theology', host: 'Greta Palmer', about: 'theology' },
  { q: 'leon aydin robotics', host: 'Leon Aydin', about: 'robotics' },
  { q: 'hedda gruber chess', host: 'Hedda Gruber', about: 'chess' },
  // Where it is made.
  { q: 'time travel eastwick', about: 'time travel', place: 'Eastwick' },
  { q: 'poetry from greywater', about: 'poetry', place: 'Greywater' },
  { q: 'northgate con artists', about: 'con artists', place: 'Northgate' },
  { q: 'whitcombe forensics', about: 'forensics', place: 'Whitcombe' },
  { q: 'silent film kestrel', about: 'silent film', place: 'Kestrel' },
  // One show by its name, whole or in part.
  { q: 'Pilgrimage with Olga Jarvis', title: 'Pilgrimage with Olga Jarvis' },
  { q: 'cottage and sparrow', title: 'Cottage and Sparrow' },
  { q: 'The Noble Cartoon Podcast', title: 'The Noble Cartoon Podcast' },
  { q: 'hunger and the fern', title: 'The Hunger and the Fern' },
  { q: 'candid sleeper', title: 'The Candid Sleeper Podcast' },
  { q: 'stubborn whistleblower', title: 'Stubborn Whistleblower' },
  { q: 'curious cortex', title: 'The Curious Cortex Podcast' },
  { q: 'Hugo Oakes explains frugal living', title: 'Hugo Oakes Explains Frugal Living' },
  { q: 'checkmate and the kettle', title: 'The Checkmate and the Kettle' },
  { q: 'window and marble', title: 'Window and Marble' },
  { q: 'parcel and crane', title: 'Parcel and Crane' },
  { q: 'the ale and the meadow', title: 'The Ale and the Meadow' },
  // Only the beginning of a word.
  { q: 'palaeontol', about: 'palaeontology' },
  { q: 'volcanolog', about: 'volcanology' },
  { q: 'investigative journ', about: 'investigative journalism' },
  { q: 'fountain pe', about: 'fountain pens' },
]

// Whose texts and numbers an answer holds, and whether its reader may see them.
import { AREAS, type Area, type Person } from './people.ts'

const MARK = new RegExp(`(${AREAS.join('|')})-of-(p\\d+)`, 'g')
/** As subscriptions and accounts are named. */
const NUMBER = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?<!\d)\d{12}(?!\d)/g

export interface Reader {
  /**
   * Returns how many marks of the reader's own an answer holds. Throws at the first that is someone
   * else's, unless its rule lets the reader see it, or it is a name that the reader sent.
   */
  read(person: Person, sent: string, answer: string): number
}

export function readerOf(people: readonly Person[]): Reader {
  const ownerOfNumber = new Map<string, string>()
  for (const { name, things } of people) {
    if (!things) continue
    ownerOfNumber.set(things.subscriptionId, name)
    ownerOfNumber.set(things.accountId, name)
  }
  return {
    read(person, sent, answer) {
      let own = 0
      for (const [mark, area, owner] of answer.matchAll(MARK)) {
        if (owner === person.name) own += 1
        else if (!maySee(person, area as Area) && !(area === 'name' && sent.includes(mark))) {
          throw new Error(`${person.name}, ${person.role}, was told ${mark}`)
        }
      }
      for (const [number] of answer.matchAll(NUMBER)) {
        const owner = ownerOfNumber.get(number) ?? person.name
        if (owner === person.name || sent.includes(number) || maySee(person, 'known')) continue
        throw new Error(`${person.name}, ${person.role}, was told ${number} of ${owner}`)
      }
      return own
    },
  }
}

/** What is someone else's. */
const maySee = ({ role }: Person, area: Area): boolean =>
  (area === 'public' && role !== 'nobody') || (area === 'known' && role === 'administrator')

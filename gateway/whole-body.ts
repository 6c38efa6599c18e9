// Requests whose bodies are wanted whole. They are gathered as they arrive, since the stream that Node
// puts around a body takes longer than most queries.
import { IncomingMessage } from 'node:http'

type Done = (body: Buffer | undefined) => void

export class WholeBody extends IncomingMessage {
  #done: Done | undefined
  #sizeMax = 0
  #size = 0
  readonly #parts: Buffer[] = []

  /** Instead of reading the stream. Undefined for a body that is larger, of which no more is kept. */
  gather(sizeMax: number, done: Done): void {
    this.#sizeMax = sizeMax
    this.#done = done
    // It counts as being read; otherwise the server would begin to once it was answered.
    this._read(0)
  }

  /** The server calls it with each part as it arrives, and with null at the end. */
  override push(part: Buffer | null): boolean {
    if (this.#sizeMax === 0) return super.push(part)
    if (!this.#done) return true
    const parts = this.#parts
    if (part === null) this.#end(parts.length === 1 ? parts[0] : Buffer.concat(parts))
    else if ((this.#size += part.length) > this.#sizeMax) this.#end(undefined)
    else parts.push(part)
    return true
  }

  #end(body: Buffer | undefined): void {
    const done = this.#done!
    this.#done = undefined
    done(body)
  }
}

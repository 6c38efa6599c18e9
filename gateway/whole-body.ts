// Requests whose bodies are wanted whole. They are gathered as they arrive, since the stream that Node
// puts around a body takes longer than most queries.
import { IncomingMessage } from 'node:http'

type Done = (body: Buffer | undefined) => void

/** What has come of a body so far. */
class Gathering {
  readonly parts: Buffer[] = []
  size = 0
  isOver = false
  readonly sizeMax: number
  readonly done: Done

  constructor(sizeMax: number, done: Done) {
    this.sizeMax = sizeMax
    this.done = done
  }

  end(body: Buffer | undefined): void {
    this.isOver = true
    this.done(body)
  }
}

export class WholeBody extends IncomingMessage {
  #gathering: Gathering | undefined

  static {
    // Of what was gathered nothing is left to be read, so that the server lets go of the request. The
    // types have a property where Node has a getter.
    Object.defineProperty(this.prototype, 'readableEnded', {
      get(this: WholeBody): boolean {
        return this.#gathering
          ? this.complete
          : Reflect.get(IncomingMessage.prototype, 'readableEnded', this)
      },
    })
  }

  /** Instead of reading the stream. Undefined for a body that is larger, of which no more is kept. */
  gather(sizeMax: number, done: Done): void {
    this.#gathering = new Gathering(sizeMax, done)
    // It counts as being read; otherwise the server would begin to once it was answered.
    this._read(0)
  }

  /** The server calls it with each part as it arrives, and with null at the end. */
  override push(part: Buffer | null): boolean {
    const gathering = this.#gathering
    if (!gathering) return super.push(part)
    if (gathering.isOver) return true
    const { parts } = gathering
    if (part === null) gathering.end(parts.length === 1 ? parts[0] : Buffer.concat(parts))
    else if ((gathering.size += part.length) > gathering.sizeMax) gathering.end(undefined)
    else parts.push(part)
    return true
  }
}

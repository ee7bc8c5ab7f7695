import { createParser, type EventSourceParser } from 'eventsource-parser'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import { objectOf } from '../json-object.ts'
import type { ModelAnswer } from './model-answer.ts'

const MAX_BYTES = 16_777_216
/** Limit of one line and of one event. */
const MAX_BUFFERED_CHARACTERS = 1_048_576
const BLANK = /^[\s\ufeff]*/

/**
 * Parses the bytes of an answer, split anywhere: server-sent events or, from services that do not stream, one JSON
 * document. Throws `ProviderError` "model_failed" beyond 16 MiB, or 1 Mi characters of one event.
 */
export class AnswerBytes<Event> {
  readonly answer: ModelAnswer<Event>
  readonly #decoder = new TextDecoder()
  readonly #parser: EventSourceParser
  #bytes = 0
  #document: string[] | null = null
  #streams = false
  #data: string[] = []
  #tooLong = false
  #pieces = 0

  constructor(answer: ModelAnswer<Event>) {
    this.answer = answer
    this.#parser = createParser({
      maxBufferSize: MAX_BUFFERED_CHARACTERS,
      onEvent: ({ data }) => {
        // The parser limits what it buffers: an event whose end arrives with its last piece is longer.
        if (data.length > MAX_BUFFERED_CHARACTERS) this.#tooLong = true
        else this.#data.push(data)
      },
      onError: error => {
        if (error.type === 'max-buffer-size-exceeded') this.#tooLong = true
      },
    })
  }

  /** Grows with each event that has content and with each piece of a document; not with comments. */
  get progress(): number {
    return this.#pieces + this.answer.progress
  }

  push(bytes: Uint8Array): Event[] {
    this.#bytes += bytes.length
    if (this.#bytes > MAX_BYTES) throw tooLong()
    return this.#text(this.#decoder.decode(bytes, { stream: true }))
  }

  /** The end of the bytes. */
  end(): Event[] {
    const events = this.#text(this.#decoder.decode())
    if (this.#document !== null) return [...events, ...this.#parseDocument(this.#document.join(''))]
    // Not every service closes its last event with a blank line.
    return [...events, ...this.#feed('\n\n')]
  }

  #text(text: string): Event[] {
    if (this.#document !== null) {
      this.#document.push(text)
      this.#pieces++
    }
    if (this.#document !== null || text === '') return []
    if (this.#streams) return this.#feed(text)
    // Blanks before the first character, which decides between a document and a stream, are ignored.
    const start = BLANK.exec(text)![0].length
    if (start === text.length) return []
    if (text[start] === '{') {
      this.#document = [text.slice(start)]
      return []
    }
    this.#streams = true
    return this.#feed(text)
  }

  #feed(text: string): Event[] {
    this.#parser.feed(text)
    if (this.#tooLong) throw tooLong()
    const data = this.#data
    this.#data = []
    return data.flatMap(each => this.answer.data(each))
  }

  #parseDocument(document: string): Event[] {
    const object = objectOf(document)
    if (object === null) throw new ProviderError('model_failed', "The model's answer is not JSON.")
    return this.answer.chunk(object)
  }
}

function tooLong(): ProviderFailure {
  return new ProviderError('model_failed', "The model's answer is too long.", { retryable: false })
}

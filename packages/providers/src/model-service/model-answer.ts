import type { JsonObject } from '../json-object.ts'

/** Parses one answer of a service, streamed or whole, into events. Malformed data and errors in the answer throw `ProviderError`. */
export interface ModelAnswer<Event> {
  /** The model has finished; only usage and the end of the stream may follow. */
  readonly isFinished: boolean
  /** The service has ended the answer. */
  readonly isComplete: boolean
  /** Grows with each event that has content; comments and pings do not count. */
  readonly progress: number
  /** The data of one server-sent event. */
  data(text: string): Event[]
  /** The object in the data of an event, or the whole answer when it is one JSON document. */
  chunk(chunk: JsonObject): Event[]
  /** The last events, at the end of the stream. Throws "model_unreachable" when the model had not finished. */
  end(): Event[]
  /** The usage received so far of an abandoned answer, unless an event has reported it. */
  abandoned(): Event[]
}

import type { JsonObject } from '../json-object.ts'

/** One answer of a service, streamed or whole, as events. What makes no sense, and errors inside it, throw `ParleyError`. */
export interface ModelAnswer<Event> {
  /** What was asked for is there; what may come still is nothing that anybody waits for. */
  readonly isFinished: boolean
  /** The service has said that no more comes. */
  readonly isComplete: boolean
  /** Grows with whatever says something; signs of life that keep a connection open say nothing. */
  readonly progress: number
  /** The data of one server-sent event. */
  data(text: string): Event[]
  /** The object in the data of an event, or all of the answer where it is one document. */
  chunk(chunk: JsonObject): Event[]
  /** The answer is over: its last events. Throws "model_unreachable" when it was not finished. */
  end(): Event[]
  /** It was given up: what the service has told of its cost, where no event has said so yet. */
  givenUp(): Event[]
}

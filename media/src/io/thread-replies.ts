import type { MessagePort } from 'node:worker_threads'
import type { Ms, Samples } from '@parley/kernel'
import type { CoreEvent, SessionReply } from '../session/session-protocol.ts'
import { PROGRESS_WORDS, type ThreadReply } from './thread-protocol.ts'

/** How long a report of playout waits for others. */
const PROGRESS_WAIT_MS: Ms = 40
const PROGRESS_AT_FIRST = 64

/** What a media thread has to tell its owner, gathered so that one message carries it: each costs a system call and wakes the main thread. */
export class ThreadReplies {
  readonly #port: MessagePort
  readonly #replies: ThreadReply[] = []
  /** PROGRESS_WORDS each; they are posted before the other replies. */
  #progress = new Float64Array(PROGRESS_WORDS * PROGRESS_AT_FIRST)
  #progressWords = 0
  /** Whether one of them says that playout has come to its end. */
  #isIdle = false
  /** Until when what is gathered may wait; infinity: there is nothing. */
  #dueMs: Ms = Number.POSITIVE_INFINITY

  constructor(port: MessagePort) {
    this.#port = port
  }

  /** The next `flush` posts it. */
  add(reply: ThreadReply): void {
    this.#replies.push(reply)
    this.#dueMs = Number.NEGATIVE_INFINITY
  }

  addOf(session: number, reply: SessionReply): void {
    this.add({ type: 'session', session, reply })
  }

  /** Reports of playout, which each call has several times a second, go as numbers: an object takes ten times as long to be sent. */
  addEvent(session: number, event: CoreEvent): void {
    if (event.type === 'play-progress') this.addProgress(session, event.taken, event.atSample, event.idle)
    else this.addOf(session, { type: 'event', event })
  }

  addProgress(session: number, taken: Samples, atSample: Samples, isIdle: boolean): void {
    const at = this.#progressWords
    if (at === this.#progress.length) {
      const grown = new Float64Array(2 * at)
      grown.set(this.#progress)
      this.#progress = grown
    }
    const words = this.#progress
    words[at] = session
    words[at + 1] = taken
    words[at + 2] = atSample
    words[at + 3] = isIdle ? 1 : 0
    this.#progressWords = at + PROGRESS_WORDS
    if (isIdle) this.#isIdle = true
  }

  /** Posts what is gathered when it is due. */
  flush(nowMs: Ms): void {
    // Only that playout goes on can wait: its owner refills a ring that holds a second.
    if (this.#progressWords > 0) this.#dueMs = Math.min(this.#dueMs, nowMs + (this.#isIdle ? 0 : PROGRESS_WAIT_MS))
    if (nowMs < this.#dueMs) return
    if (this.#progressWords > 0)
      this.#replies.unshift({ type: 'progress', words: this.#progress.slice(0, this.#progressWords) })
    this.#progressWords = 0
    this.#isIdle = false
    this.#port.postMessage(this.#replies)
    this.#replies.length = 0
    this.#dueMs = Number.POSITIVE_INFINITY
  }
}

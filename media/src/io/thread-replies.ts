import type { MessagePort } from 'node:worker_threads'
import type { Ms } from '@parley/kernel'
import type { CoreEvent, SessionReply } from '../session/session-protocol.ts'
import type { ThreadReply } from './thread-protocol.ts'

/** How long a report of playout waits for others. */
const PROGRESS_WAIT_MS: Ms = 40

/** What a media thread has to tell its owner, gathered so that one message carries it: each costs a system call and wakes the main thread. */
export class ThreadReplies {
  readonly #port: MessagePort
  readonly #replies: ThreadReply[] = []
  /** PROGRESS_WORDS each; they are posted before the other replies. */
  readonly #progress: number[] = []
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
  addEvent(session: number, event: CoreEvent, nowMs: Ms): void {
    if (event.type !== 'play-progress') {
      this.addOf(session, { type: 'event', event })
      return
    }
    const { taken, atSample, idle } = event
    this.#progress.push(session, taken, atSample, idle ? 1 : 0)
    // Only that playout goes on can wait: its owner refills a ring that holds a second.
    this.#dueMs = Math.min(this.#dueMs, nowMs + (idle ? 0 : PROGRESS_WAIT_MS))
  }

  /** Posts what is gathered when it is due. */
  flush(nowMs: Ms): void {
    if (nowMs < this.#dueMs) return
    if (this.#progress.length > 0) this.#replies.unshift({ type: 'progress', words: Float64Array.from(this.#progress) })
    this.#progress.length = 0
    this.#port.postMessage(this.#replies)
    this.#replies.length = 0
    this.#dueMs = Number.POSITIVE_INFINITY
  }
}

import { Worker } from 'node:worker_threads'
import { type Ms, type ParleyError, TransientMap } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import type { CoreEvent, SessionReply } from '../session/session-protocol.ts'
import { YOUNG_GENERATION_MB } from './thread-memory.ts'
import {
  COMMAND_POSTED,
  LATENESS_US,
  type MediaThreadData,
  PROGRESS_WORDS,
  THREAD_WORDS,
  type ThreadCommand,
  type ThreadReply,
  type ThreadStatistics,
} from './thread-protocol.ts'

interface MediaThreadListener {
  sessionReply(session: number, reply: SessionReply): void
  /** The thread ended, and its sessions with it. Called once, not after `stop`. */
  died(thread: MediaThreadHandle, detail: string): void
}

/** The main thread's side of one media thread. */
export class MediaThreadHandle {
  /** Number of sessions on this thread, including those still opening. */
  load = 0
  readonly #worker: Worker
  readonly #words = new Int32Array(new SharedArrayBuffer(4 * THREAD_WORDS))
  readonly #listener: MediaThreadListener
  readonly #ready = Promise.withResolvers<void>()
  readonly #exited = Promise.withResolvers<void>()
  readonly #opening = new TransientMap<number, PromiseWithResolvers<void>>()
  readonly #statistics: PromiseWithResolvers<ThreadStatistics>[] = []
  #state: 'running' | 'stopping' | 'gone' = 'running'

  constructor(data: Omit<MediaThreadData, 'words'>, listener: MediaThreadListener) {
    this.#listener = listener
    this.#worker = new Worker(new URL('./media-thread.ts', import.meta.url), {
      workerData: { ...data, words: this.#words } satisfies MediaThreadData,
      name: 'media',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    this.#worker.on('message', (replies: ThreadReply[]) => {
      for (const reply of replies) this.#take(reply)
    })
    this.#worker.on('error', error => this.#gone(String(error)))
    this.#worker.on('exit', code => this.#gone(`the media thread ended with code ${code}`))
    // A caller that awaits readiness gets the rejection there; without one it must not end the process.
    this.#ready.promise.catch(() => {})
  }

  ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Resolves when the session's sockets are bound. Rejects with "address_in_use", "bind_failed" or "media_thread_lost". */
  open(command: Extract<ThreadCommand, { type: 'open' }>): Promise<void> {
    const opening = Promise.withResolvers<void>()
    if (this.#state === 'gone') {
      opening.reject(lost('it has ended'))
      return opening.promise
    }
    this.#opening.set(command.session, opening)
    this.post(command)
    return opening.promise
  }

  post(command: ThreadCommand): void {
    if (this.#state === 'gone') return
    this.#worker.postMessage(command)
    Atomics.store(this.#words, COMMAND_POSTED, 1)
  }

  statistics(): Promise<ThreadStatistics> {
    const wanted = Promise.withResolvers<ThreadStatistics>()
    if (this.#state === 'gone') wanted.reject(lost('it has ended'))
    else this.#statistics.push(wanted)
    this.post({ type: 'thread-statistics' })
    return wanted.promise
  }

  /** p99 of the lateness of sent packets in the last five seconds; 0 with fewer than ten calls. */
  get latenessMs(): Ms {
    return Atomics.load(this.#words, LATENESS_US) / 1000
  }

  /** Closes the thread's sessions, then ends the thread. */
  async stop(): Promise<void> {
    if (this.#state === 'running') {
      this.post({ type: 'stop' })
      this.#state = 'stopping'
    }
    await this.#exited.promise
  }

  /** Ends the thread as a crash would. */
  async kill(): Promise<void> {
    await this.#worker.terminate()
  }

  #take(reply: ThreadReply): void {
    switch (reply.type) {
      case 'ready':
        this.#ready.resolve()
        return
      case 'opened':
        this.#opening.get(reply.session)?.resolve()
        this.#opening.delete(reply.session)
        return
      case 'open-failed':
        this.#opening.get(reply.session)?.reject(new MediaError(reply.code, reply.detail, { retryable: true }))
        this.#opening.delete(reply.session)
        return
      case 'session':
        this.#listener.sessionReply(reply.session, reply.reply)
        return
      case 'progress':
        this.#progress(reply.words)
        return
      case 'thread-statistics':
        this.#statistics.shift()?.resolve(reply.statistics)
        return
    }
  }

  #progress(words: Float64Array): void {
    for (let at = 0; at < words.length; at += PROGRESS_WORDS) {
      const event: CoreEvent = {
        type: 'play-progress',
        taken: words[at + 1]!,
        atSample: words[at + 2]!,
        idle: words[at + 3] === 1,
      }
      this.#listener.sessionReply(words[at]!, { type: 'event', event })
    }
  }

  #gone(detail: string): void {
    if (this.#state === 'gone') return
    const wanted = this.#state === 'stopping'
    this.#state = 'gone'
    const error = lost(detail)
    this.#ready.reject(error)
    for (const opening of this.#opening.values()) opening.reject(error)
    this.#opening.clear()
    for (const statistics of this.#statistics.splice(0)) statistics.reject(error)
    this.#exited.resolve()
    if (!wanted) this.#listener.died(this, detail)
  }
}

function lost(detail: string): ParleyError {
  return new MediaError('media_thread_lost', `the media thread is gone: ${detail}`)
}

import { type ChildProcess, fork } from 'node:child_process'

interface PageMessage {
  readonly type: string
  readonly [field: string]: unknown
}

/** Reports of the process that has the visitor. */
export type VisitorReport =
  | { readonly type: 'joined' }
  | { readonly type: 'refused'; readonly detail: string }
  | { readonly type: 'message'; readonly text: string }
  /** 20 ms of the agent, 16 kHz. */
  | { readonly type: 'audio'; readonly samples: Int16Array; readonly at: number }
  /** The first frame of a speech was handed to the library. */
  | { readonly type: 'speaking'; readonly at: number }
  | { readonly type: 'out' }

/** Commands to that process. */
export type VisitorCommand =
  | { readonly type: 'join'; readonly url: string; readonly token: string }
  | { readonly type: 'speak'; readonly samples: Int16Array }
  | { readonly type: 'send'; readonly text: string }
  | { readonly type: 'leave' }

/** A visitor of a room of LiveKit by `@livekit/rtc-node`, in a process of its own, in the place of a browser. */
export class LiveKitVisitor {
  /** Messages of the agent's side, in order. */
  readonly messages: PageMessage[] = []
  /** When each 20 ms of the agent came, and how loud they were (RMS of full scale). */
  readonly heard: { readonly at: number; readonly level: number }[] = []
  /** When each speech began, as the clock of `heard`. */
  readonly spoke: number[] = []
  /** Whether the server has put the visitor out of the room, or it left. */
  isOut = false
  readonly #child: ChildProcess
  readonly #joined = Promise.withResolvers<void>()

  constructor() {
    const worker = new URL('./livekit-visitor-process.ts', import.meta.url)
    this.#child = fork(worker, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    })
    this.#child.on('message', report => this.#onReport(report as VisitorReport))
    this.#child.once('exit', () => this.#joined.reject(new Error('the process of the visitor ended')))
    this.#joined.promise.catch(() => {})
  }

  /** Resolves when the visitor is in the room with its microphone; rejects when it is refused. */
  join({ url, token }: { readonly url: string; readonly token: string }): Promise<void> {
    this.#send({ type: 'join', url, token })
    return this.#joined.promise
  }

  speak(samples: Int16Array): void {
    this.#send({ type: 'speak', samples })
  }

  send(message: object): void {
    this.#send({ type: 'send', text: JSON.stringify(message) })
  }

  leave(): void {
    this.#send({ type: 'leave' })
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = new Promise(resolve => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await exited
  }

  #send(command: VisitorCommand): void {
    if (this.#child.connected) this.#child.send(command, () => {})
  }

  #onReport(report: VisitorReport): void {
    switch (report.type) {
      case 'joined':
        return this.#joined.resolve()
      case 'refused':
        return this.#joined.reject(new Error(report.detail))
      case 'message':
        return void this.messages.push(JSON.parse(report.text))
      case 'audio':
        return void this.heard.push({ at: report.at, level: levelOf(report.samples) })
      case 'speaking':
        return void this.spoke.push(report.at)
      case 'out':
        this.isOut = true
    }
  }
}

function levelOf(samples: Int16Array): number {
  const power = samples.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0)
  return Math.sqrt(power / Math.max(1, samples.length))
}

import { type ChildProcess, fork } from 'node:child_process'
import { WebRtcError } from '../errors.ts'
import type { IceServer, OfferedAudio, PeerCommand, PeerOptions, PeerReport } from '../protocol.ts'

/** Longest wait for an answer: gathering takes milliseconds, with a TURN server seconds. */
const ANSWER_MS = 8000

type PeerEvent =
  /** ICE and DTLS are up: audio flows both ways. */
  | { readonly type: 'connected' }
  /** The path is lost; it may come back by itself. */
  | { readonly type: 'disconnected' }
  /** The page opened its data channel. */
  | { readonly type: 'channel' }
  | { readonly type: 'message'; readonly text: string }
  /** The connection is over; the last event. `detail` says why. */
  | { readonly type: 'gone'; readonly detail: string }

/** A peer connection with a browser. */
export interface BrowserPeer {
  readonly answer: string
  /** The loopback port of its RTP. */
  readonly port: number
  /** The first listener gets the events from before it was added. */
  onEvent(listener: (event: PeerEvent) => void): void
  addCandidate(candidate: string, mid: string): void
  /** Sends on the data channel of the page; dropped while there is none. */
  send(text: string): void
  /** Idempotent; no event follows. */
  close(): void
}

interface BrowserOffer {
  readonly sdp: string
  readonly audio: OfferedAudio
  /** Address and port of the call's media session. */
  readonly media: { readonly address: string; readonly port: number }
}

/** How peer connections are opened. */
export interface PeerProcessOptions extends Omit<PeerOptions, 'iceServers'> {
  /** The servers of one connection: their credentials expire. */
  readonly iceServers: () => readonly IceServer[]
}

/**
 * Peer connections with browsers, in one child process: its library cannot be loaded by two threads, and a crash of it ends
 * web calls only. The process starts with the first connection, and again with the first one after it ended.
 */
export class PeerProcess {
  readonly #options: PeerProcessOptions
  readonly #onProblem: (what: string, error: unknown) => void
  readonly #connections = new Map<string, Connection>()
  #child: ChildProcess | null = null
  #closed = false
  #count = 0

  constructor(options: PeerProcessOptions & { readonly onProblem: (what: string, error: unknown) => void }) {
    const { onProblem, ...rest } = options
    this.#options = rest
    this.#onProblem = onProblem
  }

  /** Number of open connections. */
  get size(): number {
    return this.#connections.size
  }

  /** Process id of the child; null while there is none. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Answers an offer. Throws "offer_refused" and "peer_process_lost". */
  async connect({ sdp, audio, media }: BrowserOffer): Promise<BrowserPeer> {
    const id = String(++this.#count)
    const connection = new Connection(id, command => this.#send(command))
    this.#connections.set(id, connection)
    connection.onClosed = () => this.#connections.delete(id)
    try {
      this.#send({
        type: 'connect',
        id,
        offer: sdp,
        audio,
        media,
        options: { ...this.#options, iceServers: this.#options.iceServers() },
      })
      return await connection.answered(ANSWER_MS)
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Ends all connections and the child process. */
  async close(): Promise<void> {
    this.#closed = true
    const child = this.#child
    if (child === null) return
    const exited = new Promise<void>(resolve => child.once('exit', () => resolve()))
    child.disconnect()
    const timer = setTimeout(() => child.kill('SIGKILL'), 2000)
    await exited
    clearTimeout(timer)
  }

  #send(command: PeerCommand): void {
    const child = this.#child ?? (command.type === 'connect' ? this.#start() : null)
    if (child?.connected) child.send(command, () => {})
  }

  #start(): ChildProcess {
    if (this.#closed) throw new WebRtcError('peer_process_lost', 'the process of peer connections is closed')
    const child = fork(new URL('./peer-worker.ts', import.meta.url), [], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#child = child
    child.on('message', message => this.#onReport(message as PeerReport))
    child.on('error', error => this.#onProblem('the process of peer connections', error))
    child.on('exit', (code, signal) => this.#onExit(child, code, signal))
    return child
  }

  #onReport(report: PeerReport): void {
    this.#connections.get(report.id)?.handle(report)
  }

  #onExit(child: ChildProcess, code: number | null, signal: string | null): void {
    if (this.#child === child) this.#child = null
    const detail = `the process of peer connections ended (${signal ?? code})`
    if (!this.#closed) this.#onProblem('web calls', new WebRtcError('peer_process_lost', detail))
    for (const connection of [...this.#connections.values()]) connection.lost(detail)
  }
}

class Connection implements BrowserPeer {
  answer = ''
  port = 0
  onClosed: () => void = () => {}
  readonly #id: string
  readonly #send: (command: PeerCommand) => void
  readonly #early: PeerEvent[] = []
  #listener: ((event: PeerEvent) => void) | null = null
  #settle: { resolve: () => void; reject: (error: Error) => void } | null = null
  #closed = false

  constructor(id: string, send: (command: PeerCommand) => void) {
    this.#id = id
    this.#send = send
  }

  /** Resolves with this connection once there is an answer. */
  async answered(withinMs: number): Promise<this> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve, reject) => {
      this.#settle = { resolve, reject }
      timer = setTimeout(
        () => reject(new WebRtcError('offer_refused', `no answer was made within ${withinMs} ms`)),
        withinMs,
      )
    }).finally(() => clearTimeout(timer))
    return this
  }

  onEvent(listener: (event: PeerEvent) => void): void {
    this.#listener = listener
    for (const event of this.#early.splice(0)) listener(event)
  }

  addCandidate(candidate: string, mid: string): void {
    this.#send({ type: 'candidate', id: this.#id, candidate, mid })
  }

  send(text: string): void {
    this.#send({ type: 'send', id: this.#id, text })
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#send({ type: 'close', id: this.#id })
    this.onClosed()
  }

  handle(report: PeerReport): void {
    if (this.#closed) return
    switch (report.type) {
      case 'answer':
        this.answer = report.sdp
        this.port = report.port
        return this.#settle?.resolve()
      case 'refused':
        return this.#settle?.reject(new WebRtcError('offer_refused', report.detail))
      case 'channel':
        return this.#emit({ type: 'channel' })
      case 'message':
        return this.#emit({ type: 'message', text: report.text })
      case 'state':
        if (report.state === 'connected') this.#emit({ type: 'connected' })
        else if (report.state === 'disconnected') this.#emit({ type: 'disconnected' })
        else if (report.state === 'failed' || report.state === 'closed')
          this.lost(`the peer connection is ${report.state}`)
    }
  }

  lost(detail: string): void {
    if (this.#closed) return
    this.#settle?.reject(new WebRtcError('peer_process_lost', detail))
    this.#emit({ type: 'gone', detail })
    this.close()
  }

  #emit(event: PeerEvent): void {
    if (this.#listener === null) this.#early.push(event)
    else this.#listener(event)
  }
}

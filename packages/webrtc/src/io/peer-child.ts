import { type ChildProcess, fork } from 'node:child_process'
import { WebRtcError } from '../errors.ts'
import type { PeerReport } from '../protocol.ts'

type PeerEvent =
  /** Audio flows both ways. */
  | { readonly type: 'connected' }
  /** The path is lost; it may come back by itself. */
  | { readonly type: 'disconnected' }
  /** The page takes messages. */
  | { readonly type: 'channel' }
  | { readonly type: 'message'; readonly text: string }
  /** The user left the room of the call. */
  | { readonly type: 'left' }
  /** The connection is over; the last event. `detail` says why. */
  | { readonly type: 'gone'; readonly detail: string }

/** A connection with the browser of a call. */
export interface BrowserPeer {
  /** Answer to the offer of the browser; empty where a server of another makes it. */
  readonly answer: string
  /** The loopback port of its RTP. */
  readonly port: number
  /** The first listener gets the events from before it was added. */
  onEvent(listener: (event: PeerEvent) => void): void
  addCandidate(candidate: string, mid: string): void
  /** Sends to the page; dropped while it takes no messages. */
  send(text: string): void
  /** Idempotent; no event follows. */
  close(): void
}

/** Commands that every child process of connections takes; `id` names a connection. */
type ConnectionCommand =
  | { readonly type: 'candidate'; readonly id: string; readonly candidate: string; readonly mid: string }
  | { readonly type: 'send'; readonly id: string; readonly text: string }
  | { readonly type: 'close'; readonly id: string }

interface PeerChildOptions {
  /** Module that the child process executes. */
  readonly worker: URL
  /** What the process has, for error texts: "peer connections". */
  readonly has: string
  readonly onProblem: (what: string, error: unknown) => void
}

/**
 * A child process that has connections with browsers: its native library cannot be loaded by two threads, and a crash of it ends
 * web calls only. The process starts with the first connection, and again with the first one after it ended.
 */
export class PeerChild<Connect extends { readonly type: 'connect'; readonly id: string }> {
  readonly #options: PeerChildOptions
  readonly #connections = new Map<string, Connection>()
  #child: ChildProcess | null = null
  #closed = false
  #count = 0

  constructor(options: PeerChildOptions) {
    this.#options = options
  }

  /** Number of open connections. */
  get size(): number {
    return this.#connections.size
  }

  /** Process id of the child; null while there is none. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Opens a connection. Throws "offer_refused", also after `withinMs`, and "peer_process_lost". */
  async open(connect: Omit<Connect, 'type' | 'id'>, withinMs: number): Promise<BrowserPeer> {
    const id = String(++this.#count)
    const connection = new Connection(id, command => this.#send(command))
    this.#connections.set(id, connection)
    connection.onClosed = () => this.#connections.delete(id)
    try {
      this.#child ??= this.#start()
      this.#send({ ...connect, type: 'connect', id } as unknown as Connect)
      return await connection.answered(withinMs)
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

  #send(command: ConnectionCommand | Connect): void {
    const child = this.#child
    if (child?.connected) child.send(command, () => {})
  }

  #start(): ChildProcess {
    const { worker, has, onProblem } = this.#options
    if (this.#closed) throw new WebRtcError('peer_process_lost', `the process of ${has} is closed`)
    const child = fork(worker, [], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.on('message', message => this.#onReport(message as PeerReport))
    child.on('error', error => onProblem(`the process of ${has}`, error))
    child.on('exit', (code, signal) => this.#onExit(child, code, signal))
    return child
  }

  #onReport(report: PeerReport): void {
    this.#connections.get(report.id)?.handle(report)
  }

  #onExit(child: ChildProcess, code: number | null, signal: string | null): void {
    if (this.#child === child) this.#child = null
    const { has, onProblem } = this.#options
    const detail = `the process of ${has} ended (${signal ?? code})`
    if (!this.#closed) onProblem('web calls', new WebRtcError('peer_process_lost', detail))
    for (const connection of [...this.#connections.values()]) connection.lost(detail)
  }
}

class Connection implements BrowserPeer {
  answer = ''
  port = 0
  onClosed: () => void = () => {}
  readonly #id: string
  readonly #send: (command: ConnectionCommand) => void
  readonly #early: PeerEvent[] = []
  #listener: ((event: PeerEvent) => void) | null = null
  #settle: { resolve: () => void; reject: (error: Error) => void } | null = null
  #closed = false

  constructor(id: string, send: (command: ConnectionCommand) => void) {
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
        else if (report.state === 'left') this.#emit({ type: 'left' })
        else if (report.state === 'failed' || report.state === 'closed') this.lost(`the connection is ${report.state}`)
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

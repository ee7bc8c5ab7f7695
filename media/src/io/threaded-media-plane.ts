import { availableParallelism } from 'node:os'
import { type Ms, systemRandom, TransientMap } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import { PortPool } from '../ports/port-pool.ts'
import { allocateRecordingRing } from '../recorder/recording-ring.ts'
import type { MediaPlane, MediaSession, MediaSessionOptions } from '../session/media-session.ts'
import { MediaSessionHandle } from '../session/media-session-handle.ts'
import type { SessionReply } from '../session/session-protocol.ts'
import { SessionRings } from '../session/session-rings.ts'
import { choosePacketIo, type PacketIoKind } from './choose-packet-io.ts'
import { MediaThreadHandle } from './media-thread-handle.ts'
import { RecordingWriter } from './recording-writer.ts'
import { SessionRecording } from './session-recording.ts'
import type { ThreadStalls, ThreadStatistics } from './thread-protocol.ts'

interface ThreadedMediaPlaneOptions {
  /** Media threads; default one per core less one, at least one. */
  readonly threads?: number
  /** IPv4 address that sockets are bound to. */
  readonly bindAddress: string
  /** RTP and RTCP ports, inclusive; each session takes an even one and the odd one above. */
  readonly ports: { readonly from: number; readonly to: number; readonly drainMs?: number }
  /** Default: native where it is built, else portable. */
  readonly packetIo?: PacketIoKind | undefined
  /** What `session.local` says when the world sees another address than the bound one. */
  readonly advertisedAddress?: string
  /** Fault injection. */
  readonly stalls?: ThreadStalls
}

/** Somebody else may sit on many ports of the range: how many are tried for one session. */
const OPEN_ATTEMPTS = 64

interface LiveSession {
  readonly handle: MediaSessionHandle
  readonly thread: MediaThreadHandle
}

/** Sessions on media threads, over real sockets. A thread that dies takes its sessions with it and is replaced. */
export class ThreadedMediaPlane implements MediaPlane {
  readonly #options: ThreadedMediaPlaneOptions
  readonly #ports: PortPool
  readonly #writer = new RecordingWriter()
  readonly #sessions = new TransientMap<number, LiveSession>()
  /** RTP ports of sessions; each has the port above as well. */
  readonly #bound = new Set<number>()
  readonly #threadCount: number
  readonly #packetIo: PacketIoKind
  #threads: MediaThreadHandle[] = []
  #writerStarted: Promise<void> | null = null
  #nextSession = 1
  #closing: Promise<void> | null = null

  private constructor(options: ThreadedMediaPlaneOptions) {
    this.#options = options
    this.#packetIo = choosePacketIo(options.packetIo)
    this.#ports = new PortPool({ ...options.ports, random: systemRandom })
    this.#threadCount = options.threads ?? Math.max(1, availableParallelism() - 1)
  }

  /** Resolves when all threads run. Rejects with `MediaError` "invalid_port_range", "media_thread_lost", "native_packet_io_unavailable". */
  static async start(options: ThreadedMediaPlaneOptions): Promise<ThreadedMediaPlane> {
    const plane = new ThreadedMediaPlane(options)
    plane.#threads = Array.from({ length: plane.#threadCount }, () => plane.#startThread())
    await Promise.all(plane.#threads.map(thread => thread.ready()))
    return plane
  }

  /** Rejects with `MediaError` "no_rtp_port", "bind_failed", "media_thread_lost", "media_closed". */
  async open(options: MediaSessionOptions): Promise<MediaSession> {
    if (this.#closing !== null) throw new MediaError('media_closed', 'the media plane is closed')
    const recording = options.recording === undefined ? null : allocateRecordingRing(options.format)
    if (recording !== null) await this.#startWriter()
    const rings = new SessionRings(options.format)
    const id = this.#nextSession++
    const thread = await this.#leastLoaded()
    thread.load++
    let port: number
    try {
      port = await this.#openOn(thread, id, rings, recording)
    } catch (error) {
      thread.load--
      throw error
    }
    const recorded = new SessionRecording(this.#writer)
    if (recording !== null && options.recording !== undefined) recorded.begin(recording, options.recording)
    const handle = new MediaSessionHandle({
      id,
      session: options,
      local: { address: this.#options.advertisedAddress ?? this.#options.bindAddress, port },
      rings,
      post: command => thread.post({ type: 'session', session: id, command }),
      finish: () => {
        this.#sessions.delete(id)
        thread.load--
        this.#bound.delete(port)
        this.#ports.release(performance.now(), port)
        return recorded.finish()
      },
      split: next => recorded.split(next),
    })
    this.#sessions.set(id, { handle, thread })
    return handle
  }

  /**
   * Whether a session has the port, for RTP or RTCP. One that is being bound does not count: it may be a peer's on the same
   * machine.
   */
  isBound(port: number): boolean {
    return this.#bound.has(port - (port % 2))
  }

  describe(): string {
    const { bindAddress, ports, advertisedAddress } = this.#options
    const seen = advertisedAddress === undefined ? '' : ` (announced as ${advertisedAddress})`
    return (
      `media: ${this.#threads.length} thread(s), ${this.#sessions.size} session(s), ` +
      `udp ${bindAddress}${seen} ports ${ports.from}-${ports.to}, ${this.#ports.leased} leased, ${this.#packetIo} packet I/O`
    )
  }

  /** One entry per thread: load, punctuality, packet counters. */
  threadStatistics(): Promise<ThreadStatistics[]> {
    return Promise.all(this.#threads.map(thread => thread.statistics()))
  }

  /** p99 of the lateness of sent packets in the last five seconds, of the latest thread; 0 where threads have fewer than ten calls. */
  get latenessMs(): Ms {
    return Math.max(0, ...this.#threads.map(thread => thread.latenessMs))
  }

  /** Fault injection: ends one media thread as a crash would. */
  async killThread(index: number): Promise<void> {
    await this.#threads[index]?.kill()
  }

  /** Closes all sessions, completes their recordings, ends the threads. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    await Promise.allSettled([...this.#sessions.values()].map(({ handle }) => handle.close()))
    await Promise.all(this.#threads.map(thread => thread.stop()))
    if (this.#writerStarted !== null) await this.#writer.close()
  }

  #startThread(): MediaThreadHandle {
    return new MediaThreadHandle(
      {
        bindAddress: this.#options.bindAddress,
        packetIo: this.#packetIo,
        stalls: this.#options.stalls ?? null,
      },
      {
        sessionReply: (session, reply) => this.#reply(session, reply),
        died: (thread, detail) => this.#threadDied(thread, detail),
      },
    )
  }

  #reply(session: number, reply: SessionReply): void {
    this.#sessions.get(session)?.handle.deliver(reply)
  }

  #threadDied(dead: MediaThreadHandle, detail: string): void {
    this.#threads = this.#threads.filter(thread => thread !== dead)
    for (const { handle, thread } of [...this.#sessions.values()]) {
      if (thread === dead) handle.fail(detail)
    }
  }

  /** A thread that died is replaced by the next call, so that one that cannot live does not spin. */
  async #leastLoaded(): Promise<MediaThreadHandle> {
    if (this.#threads.length < this.#threadCount) {
      const thread = this.#startThread()
      this.#threads.push(thread)
      await thread.ready()
    }
    return this.#threads.reduce((least, thread) => (thread.load < least.load ? thread : least))
  }

  #startWriter(): Promise<void> {
    this.#writerStarted ??= this.#writer.start()
    return this.#writerStarted
  }

  async #openOn(
    thread: MediaThreadHandle,
    session: number,
    rings: SessionRings,
    recording: SharedArrayBuffer | null,
  ): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const port = this.#ports.lease(performance.now())
      try {
        await thread.open({ type: 'open', session, port, format: rings.format, rings: rings.memory, recording })
        this.#bound.add(port)
        return port
      } catch (error) {
        const taken = MediaError.is(error, 'address_in_use')
        if (taken) this.#ports.refuse(performance.now(), port)
        else this.#ports.release(performance.now(), port)
        if (!taken || attempt === OPEN_ATTEMPTS) throw error
      }
    }
  }
}

import { performance } from 'node:perf_hooks'
import { type Ms, systemRandom, TransientMap } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import type { PacketIo } from '../packet-io/packet-io.ts'
import { RecordingRing } from '../recorder/recording-ring.ts'
import type { MediaPath } from '../session/media-path.ts'
import { MediaSessionCore } from '../session/media-session-core.ts'
import { type SendSlot, SendSlots } from '../session/send-slots.ts'
import type { SessionCommand } from '../session/session-protocol.ts'
import { SessionRings } from '../session/session-rings.ts'
import type { SrtpTransforms } from '../srtp/srtp-transform.ts'
import type { NativeTurns } from './native-turns.ts'
import type { OutgoingPackets } from './outgoing-packets.ts'
import type { ThreadCommand } from './thread-protocol.ts'
import type { ThreadReplies } from './thread-replies.ts'

/** Packet time until parameters are applied: the slot also runs the inbound side. */
export const DEFAULT_PTIME_MS: Ms = 20

/** One call of a media thread. */
export interface ThreadSession {
  readonly id: number
  /** In the media path. */
  readonly pathId: number
  readonly core: MediaSessionCore
  readonly rtpSocket: number
  readonly rtcpSocket: number
  slot: SendSlot<ThreadSession> | null
}

interface SessionsOptions {
  readonly io: PacketIo
  readonly bindAddress: string
  readonly transforms: SrtpTransforms
  readonly path: MediaPath
  /** Wakes in C++; null: they are in JavaScript. */
  readonly turns: NativeTurns | null
  readonly outgoing: OutgoingPackets
  readonly replies: ThreadReplies
}

/** The calls of one media thread, from the opening of their sockets to the end, and their places in its grid. */
export class ThreadSessions {
  readonly slots = new SendSlots<ThreadSession>()
  readonly #options: SessionsOptions
  readonly #sessions = new TransientMap<number, ThreadSession>()
  readonly #rtp = new TransientMap<number, ThreadSession>()
  readonly #rtcp = new TransientMap<number, ThreadSession>()
  readonly #byPath: (ThreadSession | null)[] = []

  constructor(options: SessionsOptions) {
    this.#options = options
    const { replies, turns } = options
    turns?.reportProgressTo((pathId, taken, atSample, isIdle) => {
      const session = this.#byPath[pathId]
      if (session != null) replies.addProgress(session.id, taken, atSample, isIdle)
    })
  }

  get count(): number {
    return this.#sessions.size
  }

  has(session: ThreadSession): boolean {
    return this.#sessions.get(session.id) === session
  }

  ofRtpSocket(socket: number): ThreadSession | undefined {
    return this.#rtp.get(socket)
  }

  ofRtcpSocket(socket: number): ThreadSession | undefined {
    return this.#rtcp.get(socket)
  }

  /** By the id in the media path; null: it is closed. */
  ofPath(pathId: number): ThreadSession | null {
    return this.#byPath[pathId] ?? null
  }

  async open(command: Extract<ThreadCommand, { type: 'open' }>): Promise<void> {
    const { io, bindAddress, replies } = this.#options
    const { session, port } = command
    const sockets: number[] = []
    try {
      for (const wanted of [port, port + 1]) sockets.push(await io.open(bindAddress, wanted))
      this.#begin(command, sockets[0]!, sockets[1]!)
      replies.add({ type: 'opened', session })
    } catch (error) {
      for (const socket of sockets) io.close(socket)
      const code = MediaError.is(error) ? error.code : 'bind_failed'
      replies.add({ type: 'open-failed', session, code, detail: String(error) })
    }
  }

  /** A command for a session that has ended is ignored. */
  command(id: number, command: SessionCommand): void {
    const session = this.#sessions.get(id)
    if (session === undefined) return
    try {
      this.#obey(session, command)
    } catch (error) {
      this.fail(session, error)
    }
  }

  closeAll(): void {
    for (const session of [...this.#sessions.values()]) this.#close(session)
  }

  /** An error in one call's core ends that call; the other calls of this thread are not affected. */
  fail(session: ThreadSession, error: unknown): void {
    if (!this.has(session)) return
    this.#remove(session)
    const detail = error instanceof Error ? error.message : String(error)
    this.#options.replies.addOf(session.id, { type: 'failed', detail })
  }

  #begin(command: Extract<ThreadCommand, { type: 'open' }>, rtpSocket: number, rtcpSocket: number): void {
    const { io, transforms, path, replies } = this.#options
    const id = command.session
    const core = new MediaSessionCore({
      openedAtMs: io.now(),
      openedAtUnixMs: performance.timeOrigin + performance.now(),
      rings: new SessionRings(command.format, command.rings),
      recorder: command.recording === null ? null : new RecordingRing(command.recording),
      random: systemRandom,
      transforms,
      emit: event => replies.addEvent(id, event),
    })
    const pathId = path.add(core, rtpSocket, rtcpSocket)
    const session: ThreadSession = { id, pathId, core, rtpSocket, rtcpSocket, slot: null }
    this.#byPath[pathId] = session
    this.#place(session, DEFAULT_PTIME_MS)
    this.#sessions.set(id, session)
    this.#rtp.set(rtpSocket, session)
    this.#rtcp.set(rtcpSocket, session)
  }

  #obey(session: ThreadSession, command: SessionCommand): void {
    switch (command.type) {
      case 'apply': {
        session.core.apply(this.#options.io.now(), command.parameters)
        const { ptimeMs } = command.parameters
        if (session.slot?.ptimeMs !== ptimeMs) this.#place(session, ptimeMs)
        return
      }
      case 'digits':
        session.core.sendDigits(command.digits, command.options)
        return
      case 'background':
        session.core.setBackground(command.loop, command.gain)
        return
      case 'listen':
        session.core.listen(command.listener, command.memory)
        return
      case 'detect-voice':
        session.core.detectVoice(command.options)
        return
      case 'statistics':
        this.#options.replies.addOf(session.id, { type: 'statistics', statistics: session.core.statistics() })
        return
      case 'close':
        this.#close(session)
        return
    }
  }

  #place(session: ThreadSession, ptimeMs: Ms): void {
    const { turns } = this.#options
    if (session.slot !== null) this.slots.remove(session.slot)
    if (turns !== null) this.slots.pass(turns.lastWake)
    session.slot = this.slots.add(session, ptimeMs)
    turns?.place(session.pathId, session.slot)
  }

  #close(session: ThreadSession): void {
    const { io, outgoing, replies } = this.#options
    const { core } = session
    const length = core.close(io.now(), outgoing.next)
    if (length > 0) {
      outgoing.add(core.rtcpMux ? session.rtpSocket : session.rtcpSocket, length, core.rtcpIpv4, core.rtcpPort)
      outgoing.flush()
    }
    this.#remove(session)
    replies.addOf(session.id, { type: 'closed', statistics: core.statistics() })
  }

  #remove(session: ThreadSession): void {
    const { io, path } = this.#options
    if (session.slot !== null) this.slots.remove(session.slot)
    session.slot = null
    path.remove(session.pathId)
    this.#byPath[session.pathId] = null
    this.#sessions.delete(session.id)
    this.#rtp.delete(session.rtpSocket)
    this.#rtcp.delete(session.rtcpSocket)
    io.close(session.rtpSocket)
    io.close(session.rtcpSocket)
  }
}

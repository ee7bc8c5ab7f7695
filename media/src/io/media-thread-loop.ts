import { performance } from 'node:perf_hooks'
import type { MessagePort } from 'node:worker_threads'
import { receiveMessageOnPort } from 'node:worker_threads'
import type { Ms } from '@parley/kernel'
import { PacketBatch, type PacketIo } from '../packet-io/packet-io.ts'
import { COMPOSED, LEFT, type MediaPath, PortableMediaPath } from '../session/media-path.ts'
import { WAKE_MS } from '../session/send-slots.ts'
import type { SrtpTransforms } from '../srtp/srtp-transform.ts'
import { portableTransforms } from '../srtp/transform-for-key.ts'
import { LEFT_RECEIVED, LEFT_TO_SEND, type NativeTurns, TURN } from './native-turns.ts'
import { OutgoingPackets } from './outgoing-packets.ts'
import { SweptCalls } from './swept-calls.ts'
import { ThreadLateness } from './thread-lateness.ts'
import type { ThreadPriority } from './thread-priority.ts'
import { COMMAND_POSTED, type ThreadCommand, type ThreadStatistics } from './thread-protocol.ts'
import { ThreadReplies } from './thread-replies.ts'
import { DEFAULT_PTIME_MS, type ThreadSession, ThreadSessions } from './thread-sessions.ts'

/** Room for several packets of each socket that has any at one wake: a socket with one packet and room for more is known to be empty. */
const RECEIVED_AT_ONCE = 512
const BATCH_PACKETS = 128
/** Commands are handled for this long between two wakes while there are calls: a thousand of them at once do not make packets late. */
const COMMANDS_MS: Ms = 1
/** Sessions whose packets are composed before they are sent; each may have a report too. */
const SENT_AT_ONCE = BATCH_PACKETS / 2

/** Of the thread: raised while it has calls. */
type Priority = Pick<ThreadPriority, 'raise' | 'lower'>

/**
 * One media thread: wakes every 2.5 ms on absolute deadlines, sends for the calls whose slot it is, and processes
 * arrivals. Sends go first because they have a deadline. The loop suits both packet layers: the portable one yields to
 * the event loop in `wait`; the native one sleeps there and returns at once, so commands are taken from the port
 * directly and nothing else relies on the event loop.
 */
export class MediaThreadLoop {
  readonly #io: PacketIo
  readonly #port: MessagePort
  readonly #words: Int32Array
  readonly #sessions: ThreadSessions
  readonly #incoming = new PacketBatch(RECEIVED_AT_ONCE)
  readonly #outgoing: OutgoingPackets
  readonly #path: MediaPath
  /** Sessions whose slot was at this wake; their ids and slots are in `#calls`. */
  readonly #swept: ThreadSession[] = []
  #calls = new SweptCalls(BATCH_PACKETS)
  readonly #left = new Uint8Array(RECEIVED_AT_ONCE)
  readonly #lateness: ThreadLateness
  /** Wakes in C++; null: they are here. */
  readonly #turns: NativeTurns | null
  readonly #priority: Priority
  readonly #gridStart: Ms
  #nowMs: Ms
  readonly #replies: ThreadReplies
  #wakes = 0
  #waitedMs: Ms = 0
  #idleMs: Ms = 0
  #stopping = false
  #wakeIdle: (() => void) | null = null
  /** Commands that the event loop has taken from the port while there were calls, oldest first. */
  readonly #taken: ThreadCommand[] = []
  /** Whether commands wait for the next wake. */
  #commandsWait = false

  constructor(
    io: PacketIo,
    port: MessagePort,
    bindAddress: string,
    words: Int32Array,
    transforms: SrtpTransforms = portableTransforms,
    path: MediaPath = new PortableMediaPath(),
    turns: NativeTurns | null = null,
    priority: Priority = { raise: () => {}, lower: () => {} },
  ) {
    this.#priority = priority
    this.#path = path
    this.#turns = turns
    this.#io = io
    this.#port = port
    const replies = new ThreadReplies(port)
    const outgoing = new OutgoingPackets(io, BATCH_PACKETS)
    this.#replies = replies
    this.#outgoing = outgoing
    this.#sessions = new ThreadSessions({ io, bindAddress, transforms, path, turns, outgoing, replies })
    this.#words = words
    this.#gridStart = io.now()
    this.#nowMs = this.#gridStart
    this.#lateness = new ThreadLateness(words, this.#gridStart)
    port.on('message', (command: ThreadCommand) => this.#take(command))
  }

  /** Resolves after "stop". */
  async run(): Promise<void> {
    this.#replies.add({ type: 'ready' })
    this.#replies.flush(this.#nowMs)
    if (this.#turns === null) await this.#runWakes()
    else await this.#runTurns(this.#turns)
    this.#priority.lower()
    this.#sessions.closeAll()
    this.#replies.flush(this.#nowMs)
    this.#port.close()
  }

  async #runWakes(): Promise<void> {
    let lastWake = 0
    while (!this.#stopping) {
      if (this.#sessions.count === 0) await this.#untilWanted()
      lastWake = Math.max(lastWake, this.#wakeAt(this.#io.now()))
      const waitFrom = this.#io.now()
      await this.#io.wait(this.#gridStart + (lastWake + 1) * WAKE_MS)
      this.#nowMs = this.#io.now()
      this.#waitedMs += this.#nowMs - waitFrom
      this.#drainCommands()
      const wake = this.#wakeAt(this.#nowMs)
      if (wake > lastWake) {
        lastWake = wake
        this.#wakes++
        this.#sessions.slots.sweep(wake, this.#collect)
        this.#sendSwept()
        this.#outgoing.flush()
      }
      this.#receive(lastWake)
      this.#advance()
      this.#lateness.publish(this.#nowMs)
      this.#replies.flush(this.#nowMs)
    }
  }

  /** As `#runWakes`, but what is regular happens in C++, and so does the sleep. */
  async #runTurns(turns: NativeTurns): Promise<void> {
    while (!this.#stopping) {
      if (this.#sessions.count === 0) {
        await this.#untilWanted()
        turns.begin(this.#gridStart, this.#wakeAt(this.#io.now()))
      }
      await turns.yield()
      this.#nowMs = this.#io.now()
      this.#drainCommands()
      if (this.#commandsWait) turns.endAfterWake()
      while (this.#sessions.count > 0) {
        const end = this.#runTurn(turns)
        if (end === TURN) break
        this.#takeLeft(turns, end)
      }
      this.#lateness.publish(this.#nowMs)
      this.#replies.flush(this.#nowMs)
    }
  }

  #runTurn(turns: NativeTurns): number {
    const end = turns.run(this.#words, this.#lateness)
    this.#nowMs = this.#io.now()
    return end
  }

  /** What a run has left to the cores. */
  #takeLeft(turns: NativeTurns, end: number): void {
    const { count, ids, slotMs, missed, outcome, packets } = turns
    for (let i = 0; i < count; i++) {
      if (end === LEFT_RECEIVED) this.#dispatch(packets, i)
      const session = end === LEFT_RECEIVED ? null : this.#sessions.ofPath(ids[i]!)
      if (session === null) continue
      if (end === LEFT_TO_SEND) this.#sendRest(session, slotMs[i]!, missed[i]!, outcome[i] === LEFT)
      else this.#advanceOne(session, this.#nowMs)
      if (this.#outgoing.filled > SENT_AT_ONCE) this.#outgoing.flush()
    }
    this.#outgoing.flush()
  }

  #wakeAt(nowMs: Ms): number {
    return Math.floor((nowMs - this.#gridStart) / WAKE_MS)
  }

  async #untilWanted(): Promise<void> {
    this.#drainCommands()
    if (this.#stopping || this.#sessions.count > 0) return
    const from = this.#io.now()
    this.#lateness.publishIdle()
    this.#priority.lower()
    await new Promise<void>(resolve => {
      this.#wakeIdle = resolve
    })
    this.#priority.raise()
    this.#idleMs += this.#io.now() - from
    this.#lateness.recent.reset(this.#io.now())
  }

  /** A command of the event loop. While there are calls, it has its turn between two wakes. */
  #take(command: ThreadCommand): void {
    if (this.#sessions.count > 0) {
      this.#taken.push(command)
      this.#commandsWait = true
      return
    }
    this.#handle(command)
    this.#replies.flush(this.#nowMs)
  }

  /** Handles commands in their order, until there are none or the calls want their wake. */
  #drainCommands(): void {
    if (Atomics.exchange(this.#words, COMMAND_POSTED, 0) === 0 && !this.#commandsWait) return
    const until = this.#io.now() + COMMANDS_MS
    this.#commandsWait = false
    for (;;) {
      const command = this.#taken.shift() ?? this.#nextOfPort()
      if (command === undefined) return
      this.#handle(command)
      if (this.#sessions.count === 0 || this.#io.now() < until) continue
      this.#commandsWait = true
      // What was posted meanwhile waits as well: it would end the next run before its wake.
      Atomics.store(this.#words, COMMAND_POSTED, 0)
      return
    }
  }

  #nextOfPort(): ThreadCommand | undefined {
    const received: { message: ThreadCommand } | undefined = receiveMessageOnPort(this.#port)
    return received?.message
  }

  readonly #collect = (session: ThreadSession, slotWake: number, missed: number): void => {
    const at = this.#swept.length
    if (at === this.#calls.capacity) this.#calls = this.#calls.doubled()
    this.#swept.push(session)
    this.#calls.ids[at] = session.pathId
    this.#calls.slotMs[at] = this.#gridStart + slotWake * WAKE_MS
    this.#calls.missed[at] = missed
  }

  /** Sends for the swept sessions, as many at once as a batch holds. */
  #sendSwept(): void {
    const count = this.#swept.length
    for (let from = 0; from < count; from += SENT_AT_ONCE) {
      const until = Math.min(count, from + SENT_AT_ONCE)
      const { batch, filled } = this.#outgoing
      this.#outgoing.filledTo(this.#path.compose(this.#calls, from, until, this.#nowMs, batch, filled))
      const nowMs = this.#io.now()
      const { outcome, due, slotMs, missed } = this.#calls
      for (let i = from; i < until; i++) {
        const session = this.#swept[i]!
        if (outcome[i] === COMPOSED) this.#noteLateness(session, slotMs[i]!, missed[i]!, nowMs)
        if (outcome[i] === LEFT || due[i] === 1) this.#sendRest(session, slotMs[i]!, missed[i]!, outcome[i] === LEFT)
      }
      this.#outgoing.flush()
    }
  }

  /** What the media path has left of a session's slot, and RTCP. */
  #sendRest(session: ThreadSession, slotMs: Ms, missed: number, isLeft: boolean): void {
    const { core, rtpSocket, rtcpSocket } = session
    try {
      const length = isLeft ? core.tick(slotMs, this.#outgoing.next) : 0
      if (length > 0) {
        this.#outgoing.add(rtpSocket, length, core.ipv4, core.port)
        this.#noteLateness(session, slotMs, missed, this.#io.now())
      }
      const report = core.tickRtcp(this.#nowMs, this.#outgoing.next)
      if (report > 0) this.#outgoing.add(core.rtcpMux ? rtpSocket : rtcpSocket, report, core.rtcpIpv4, core.rtcpPort)
    } catch (error) {
      this.#sessions.fail(session, error)
    }
  }

  #noteLateness(session: ThreadSession, slotMs: Ms, missed: number, nowMs: Ms): void {
    this.#lateness.note(nowMs - slotMs, missed, session.slot?.ptimeMs ?? DEFAULT_PTIME_MS)
  }

  /**
   * Receives until the next slot is due, so that a flood does not delay it; the rest is taken at the next wake. A thread that is
   * late nevertheless takes twice what its calls usually receive in the time: otherwise packets would wait in the sockets ever
   * longer, and each slot would conceal what is already there.
   */
  #receive(wake: number): void {
    const batch = this.#incoming
    const until = this.#gridStart + (wake + 1) * WAKE_MS
    let taken = 0
    for (;;) {
      const count = this.#io.poll(batch)
      taken += count
      if (this.#path.receive(batch, count, this.#left) > 0) {
        for (let i = 0; i < count; i++) if (this.#left[i] === 1) this.#dispatch(batch, i)
      }
      if (count < batch.capacity) return
      if (taken >= 2 * this.#swept.length && this.#io.now() > until) return
    }
  }

  /**
   * Advances sessions after receiving: packets that waited in the sockets during a stall of this thread arrived in
   * time.
   */
  #advance(): void {
    const nowMs = this.#io.now()
    const { length } = this.#swept
    const { left } = this.#calls
    const isAnyLeft = this.#path.advance(this.#calls, length, nowMs) > 0
    for (let i = 0; isAnyLeft && i < length; i++) if (left[i] === 1) this.#advanceOne(this.#swept[i]!, nowMs)
    this.#swept.length = 0
  }

  #advanceOne(session: ThreadSession, nowMs: Ms): void {
    try {
      if (this.#sessions.has(session)) session.core.advance(nowMs)
    } catch (error) {
      this.#sessions.fail(session, error)
    }
  }

  #dispatch(batch: PacketBatch, i: number): void {
    const socket = batch.socket[i]!
    const rtp = this.#sessions.ofRtpSocket(socket)
    const session = rtp ?? this.#sessions.ofRtcpSocket(socket)
    if (session === undefined) return
    const arrivedAt = batch.arrivedAt[i]!
    const packet = batch.slots[i]!
    try {
      if (rtp !== undefined) session.core.receive(arrivedAt, packet, batch.length[i]!, batch.ipv4[i]!, batch.port[i]!)
      else session.core.receiveRtcp(arrivedAt, packet, batch.length[i]!, batch.ipv4[i]!, batch.port[i]!)
    } catch (error) {
      this.#sessions.fail(session, error)
    }
  }

  #handle(command: ThreadCommand): void {
    switch (command.type) {
      case 'open':
        void this.#open(command)
        return
      case 'session':
        this.#sessions.command(command.session, command.command)
        return
      case 'thread-statistics':
        this.#replies.add({ type: 'thread-statistics', statistics: this.#statistics() })
        return
      case 'stop':
        this.#stopping = true
        this.#wakeIdle?.()
        return
    }
  }

  async #open(command: Extract<ThreadCommand, { type: 'open' }>): Promise<void> {
    await this.#sessions.open(command)
    if (this.#sessions.count > 0) this.#wakeIdle?.()
    this.#replies.flush(this.#nowMs)
  }

  #statistics(): ThreadStatistics {
    const cpu = process.threadCpuUsage()
    return {
      sessions: this.#sessions.count,
      wakes: this.#wakes + (this.#turns?.wakes ?? 0),
      sendLateness: this.#lateness.takeSummary(),
      cpuMs: (cpu.user + cpu.system) / 1000,
      eventLoopUtilization: this.#utilization(),
      packetIo: { ...this.#io.counters },
      packetIoKind: this.#io.kind,
    }
  }

  #utilization(): number {
    if (this.#io.kind === 'portable') return performance.eventLoopUtilization().utilization
    const waitedMs = this.#waitedMs + (this.#turns?.waitedMs ?? 0)
    return 1 - (waitedMs + this.#idleMs) / (this.#io.now() - this.#gridStart)
  }
}

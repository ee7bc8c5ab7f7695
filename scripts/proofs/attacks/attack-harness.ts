import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ADMITS_WHEN_LATE, type Call, Engine, testPlan, testRouter } from '@parley/engine/testing'
import { ensureLocalCertificate, type LegSecurity, type MediaStatistics, type TlsIdentity } from '@parley/leg'
import { readWav } from '@parley/media'
import { type PhoneCall, VirtualPhone } from '@parley/phone'
import { type Intelligibility, intelligibility, Talk, talkingVoice, talkOn } from './talk.ts'

export const TOKEN = 'attacked234567token'
/** A trunk from which the engine takes `LIMITED_CPS` calls per second. */
export const LIMITED_TOKEN = 'limited234567token'
export const LIMITED_CPS = 2
/** The attacker's address on the loopback network; legitimate callers use 127.0.0.1. */
export const ATTACKER = '127.0.0.2'

/** A new caller during an attack is answered within this time, or that many times what a caller waited just before it: a busy machine is slow by itself. */
const NEWCOMER_MS = 3000
const NEWCOMER_SLOWER = 4

/** Measurements of the live call during an attack. */
interface CallHealth {
  /** How well the phone received the engine's audio, and the engine the phone's (from its recording). */
  readonly phoneHeard: Intelligibility
  readonly engineHeard: Intelligibility
  readonly phone: MediaStatistics
  readonly engine: MediaStatistics
  readonly isActiveAtEnd: boolean
  /** Longest delay of this process's event loop. */
  readonly loopDelayMs: number
}

const ENGINE_TALK = new Talk(11)
const PHONE_TALK = new Talk(12)

/** An engine under attack, with one live call in which engine and phone talk all the time. */
export class AttackHarness {
  readonly engine: Engine
  readonly phone: VirtualPhone
  readonly live: PhoneCall
  readonly #liveCall: Call
  readonly #directory: string
  readonly #tls: TlsIdentity
  readonly #stopTalking: () => void
  readonly #loopDelay = monitorEventLoopDelay({ resolution: 20 })
  /** Number of calls that the engine accepted, including the live one. */
  readonly #accepted: { count: number }

  private constructor(parts: {
    readonly engine: Engine
    readonly phone: VirtualPhone
    readonly live: PhoneCall
    readonly liveCall: Call
    readonly directory: string
    readonly tls: TlsIdentity
    readonly accepted: { count: number }
  }) {
    this.engine = parts.engine
    this.phone = parts.phone
    this.live = parts.live
    this.#liveCall = parts.liveCall
    this.#directory = parts.directory
    this.#tls = parts.tls
    this.#accepted = parts.accepted
    this.#loopDelay.enable()
    this.#stopTalking = talkOn(PHONE_TALK, audio => void this.live.leg.play(audio))
  }

  static async open(
    options: { readonly maxCalls?: number; readonly security?: LegSecurity } = {},
  ): Promise<AttackHarness> {
    const security = options.security ?? 'srtp-required'
    const directory = await mkdtemp(join(tmpdir(), 'parley-attack.'))
    const tls = await ensureLocalCertificate(directory, { names: ['localhost'], addresses: ['127.0.0.1'] })
    const accepted = { count: 0 }
    const voice = talkingVoice(ENGINE_TALK)
    const plan = () => testPlan({ voice }, { recordingPath: accepted.count === 0 ? join(directory, 'live.wav') : null })
    const engine = await Engine.start({
      endpoint: { tls, rtp: { ports: { from: 35_000, to: 35_999 }, threads: 1 }, userAgentName: 'Parley' },
      router: testRouter([
        { token: TOKEN, security, plan },
        { token: LIMITED_TOKEN, security, plan, inboundCps: LIMITED_CPS },
      ]),
      maxCalls: options.maxCalls ?? 20,
      ...ADMITS_WHEN_LATE,
      onCall: () => {
        accepted.count++
      },
    })
    const phone = await openPhone(tls, security)
    try {
      const live = await phone.call(uriOf(engine))
      await live.waitFor('answered', 60_000)
      const [liveCall] = engine.calls
      if (liveCall === undefined) throw new Error('the engine has no live call')
      await live.waitFor('first-packet', 60_000)
      return new AttackHarness({ engine, phone, live, liveCall, directory, tls, accepted })
    } catch (error) {
      await phone.close()
      await engine.close()
      throw error
    }
  }

  get uri(): string {
    return uriOf(this.engine)
  }

  /** PEM of the CA that peers of the engine must trust. */
  get ca(): string {
    return this.#tls.ca
  }

  get callsAccepted(): number {
    return this.#accepted.count
  }

  /** The engine's RTP port of the live call. */
  get rtpPort(): number {
    return Number(/udp 127\.0\.0\.1:(\d+)/.exec(this.#liveCall.leg.describe())?.[1])
  }

  /** The live call's statistics at the engine now. */
  statistics(): Promise<MediaStatistics> {
    return this.#liveCall.leg.statistics()
  }

  /** Makes a call from a new phone on its own connection; returns the time until its answer, ms. */
  async timeNewCall(): Promise<number> {
    const phone = await openPhone(this.#tls, 'srtp-required')
    try {
      const began = performance.now()
      const call = await phone.call(this.uri, { ringTimeoutMs: 15_000 })
      await call.waitFor('answered', 60_000)
      const answeredAfterMs = performance.now() - began
      await call.hangUp()
      return Math.round(answeredAfterMs)
    } finally {
      await phone.close()
    }
  }

  /** Whether a new call that was answered after `ms` was answered in time. `calmMs`: the time of one before the attack. */
  static isInTime(ms: number, calmMs: number): boolean {
    return ms < Math.max(NEWCOMER_MS, NEWCOMER_SLOWER * calmMs)
  }

  /** Planted fault: the phone is silent for `ms`. */
  async mute(ms: number): Promise<void> {
    this.live.leg.flush()
    await new Promise(resolve => setTimeout(resolve, ms))
  }

  /** Hangs up the live call and returns its figures. */
  async finish(): Promise<CallHealth> {
    const isActiveAtEnd = this.live.leg.state === 'active' && this.#liveCall.leg.state === 'active'
    this.#stopTalking()
    const loopDelayMs = this.#loopDelay.max / 1e6
    const received = this.live.heard()
    const end = await this.live.hangUp()
    const report = await this.#liveCall.report
    const recording = report.end.media?.recording
    const wav = recording ? readWav(await readFile(recording.path)) : undefined
    if (end.media === null || report.end.media === null) throw new Error('a side has no media report')
    return {
      phoneHeard: intelligibility(ENGINE_TALK, received),
      engineHeard: intelligibility(PHONE_TALK, wav?.channels[0] ?? new Int16Array()),
      phone: end.media.statistics,
      engine: report.end.media.statistics,
      isActiveAtEnd,
      loopDelayMs: Math.round(loopDelayMs),
    }
  }

  async close(): Promise<void> {
    this.#stopTalking()
    this.#loopDelay.disable()
    await this.phone.close()
    await this.engine.close()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

function uriOf(engine: Engine): string {
  return `sip:${TOKEN}@127.0.0.1:${engine.endpoint.port('tls')};transport=tls`
}

function openPhone(tls: TlsIdentity, security: LegSecurity): Promise<VirtualPhone> {
  return VirtualPhone.open({
    endpoint: { tls, rtp: { ports: { from: 36_000, to: 36_999 }, threads: 1 }, userAgentName: 'phone' },
    security,
  })
}

/** Allowed share of lost and late packets. */
const MAX_LOST_SHARE = 0.01

/** Allowed share of seconds of audio that are damaged by send slots that this machine missed. */
const MAX_DAMAGED_SHARE = 0.1

/** Whether the live call is still active, both sides received each other's audio, and hardly any packet was lost. */
export function isUnharmed({ isActiveAtEnd, phoneHeard, engineHeard, phone, engine }: CallHealth): boolean {
  const packets = Math.max(1, phone.packetsReceived + engine.packetsReceived)
  const lost = phone.packetsLost + phone.packetsLate + engine.packetsLost + engine.packetsLate
  const clear = wasReceived(phoneHeard, engine.missedSlots) && wasReceived(engineHeard, phone.missedSlots)
  return isActiveAtEnd && clear && lost / packets <= MAX_LOST_SHARE
}

function wasReceived({ seconds, missing, median }: Intelligibility, missedSlots: number): boolean {
  const excused = Math.min(missedSlots, 1 + Math.floor(seconds * MAX_DAMAGED_SHARE))
  return seconds > 0 && missing <= excused && median > 0.9
}

/** The measurements as printed in the report. */
export function healthFigures(health: CallHealth): object {
  const side = ({ packetsReceived, packetsLost, packetsLate, missedSlots, rejected }: MediaStatistics) => ({
    packets_received: packetsReceived,
    packets_lost: packetsLost,
    packets_late: packetsLate,
    missed_slots: missedSlots,
    rejected,
  })
  return {
    unharmed: isUnharmed(health),
    phone_heard: health.phoneHeard,
    engine_heard: health.engineHeard,
    phone: side(health.phone),
    engine: side(health.engine),
    event_loop_late_at_most_ms: health.loopDelayMs,
  }
}

import { type Ms, randomUint32, systemRandom, systemTime, type Timer } from '@parley/kernel'
import { ensureLocalCertificate } from '@parley/leg'
import {
  CallerScript,
  LineDamage,
  type LineDamageOptions,
  type PhoneCallOptions,
  PhoneVoice,
  VirtualPhone,
} from '@parley/phone'
import { TonesRecogniser, TonesVoice } from '@parley/providers'
import type { CallRow } from '../fleet/call-row.ts'
import { type FleetCallResult, followCall } from '../fleet/fleet-call.ts'
import type { FleetPart } from '../fleet/fleet-messages.ts'
import { Arrivals, type LoadStage } from '../fleet/load-stages.ts'
import type { FleetCaller } from '../fleet/scenario.ts'

const ARRIVALS_EVERY_MS: Ms = 10
/** Little audio is stored: gaps and voice are judged as it arrives. */
const MEMORY_MS: Ms = 1000
/** What a fleet judges is placed by samples, not by when it was read: half as many wake-ups are a quarter less work. */
const READ_EVERY_MS: Ms = 40
/** For every call. */
const CALL_OPTIONS = { memoryMs: MEMORY_MS, readEveryMs: READ_EVERY_MS } as const

interface PreparedCaller {
  readonly caller: FleetCaller
  readonly script: CallerScript
  readonly damage: LineDamageOptions
}

interface FleetPhonesEvents {
  readonly onRow: (row: CallRow) => void
}

/** The phones of one process of a fleet: they begin calls as the load asks for it, answer calls, and report each call that ended. */
export class FleetPhones {
  readonly #part: FleetPart
  readonly #events: FleetPhonesEvents
  readonly #phone: VirtualPhone
  readonly #callers: readonly PreparedCaller[]
  readonly #recogniser: TonesRecogniser
  readonly #arrivals: Arrivals
  readonly #cutOff = new AbortController()
  #step: number | null = null
  #timer: Timer | undefined
  #live = 0
  #begun = 0
  #startedAt: Ms | null = null
  #isClosed = false

  private constructor(
    part: FleetPart,
    events: FleetPhonesEvents,
    parts: {
      readonly phone: VirtualPhone
      readonly callers: readonly PreparedCaller[]
      readonly recogniser: TonesRecogniser
    },
  ) {
    this.#part = part
    this.#events = events
    this.#phone = parts.phone
    this.#callers = parts.callers
    this.#recogniser = parts.recogniser
    const { index, of, scenario } = part
    this.#arrivals = new Arrivals({ index, of, mostRetryMs: scenario.load.retry_most_s * 1000, random: systemRandom })
    if (part.scenario.direction !== 'calls') void this.#answerCalls()
    this.#beginCalls()
  }

  /** Synthesises the callers' words and opens the phone. Throws what an endpoint and the voice throw. */
  static async open(part: FleetPart, events: FleetPhonesEvents): Promise<FleetPhones> {
    const voice = new TonesVoice()
    try {
      const callers: PreparedCaller[] = []
      for (const caller of part.scenario.callers) callers.push(await prepare(caller, part, voice))
      const phone = await openPhone(part)
      return new FleetPhones(part, events, { phone, callers, recogniser: new TonesRecogniser() })
    } finally {
      await voice.close()
    }
  }

  get live(): number {
    return this.#live
  }

  /** Callers who were not answered and wait before they call again. */
  get waiting(): number {
    return this.#arrivals.waiting
  }

  /** Calls begun or answered so far. */
  get begun(): number {
    return this.#begun
  }

  /** SIP URI at which the phone is called. */
  get uri(): string {
    return this.#phone.uri(this.#part.scenario.transport)
  }

  mediaThreads(): ReturnType<VirtualPhone['mediaThreads']> {
    return this.#phone.mediaThreads()
  }

  setStage(stage: LoadStage): void {
    const now = systemTime.now()
    this.#startedAt ??= now
    this.#step = stage.callsOf
    this.#arrivals.begin(now, stage)
  }

  stop(): void {
    this.#arrivals.stop()
  }

  /** Hangs up all calls, whose rows are reported, and closes the phone. */
  async close(): Promise<void> {
    this.stop()
    this.#isClosed = true
    this.#timer?.cancel()
    this.#cutOff.abort()
    for (let waited = 0; this.#live > 0 && waited < 5000; waited += 50) await new Promise(done => setTimeout(done, 50))
    await this.#phone.close()
    await this.#recogniser.close()
  }

  #beginCalls(): void {
    const { total, most_calls } = this.#part.scenario.load
    const share = (count: number) => Math.ceil(count / this.#part.of)
    const left = Math.min(
      total === undefined ? Number.POSITIVE_INFINITY : share(total) - this.#begun,
      share(most_calls) - this.#live,
    )
    const due = this.#part.target.uri === null ? [] : this.#arrivals.take(systemTime.now(), this.#live)
    for (const retry of due.slice(0, Math.max(0, left))) void this.#place(this.#part.target.uri!, retry)
    this.#timer = systemTime.at(systemTime.now() + ARRIVALS_EVERY_MS, () => {
      if (!this.#isClosed) this.#beginCalls()
    })
  }

  async #place(uri: string, retry: number): Promise<void> {
    const chosen = this.#choose()
    const { credentials, from } = this.#part.target
    const direction = 'out'
    await this.#run({ direction, retry }, chosen, () =>
      this.#phone.call(uri, {
        ...(credentials !== null && { credentials }),
        ...(from !== null && { from }),
        callOptions: callOptions(chosen),
      }),
    )
  }

  async #answerCalls(): Promise<void> {
    while (!this.#isClosed) {
      const call = await this.#phone.nextCall()
      void this.#run({ direction: 'in', retry: 0 }, this.#choose(), () => Promise.resolve(call))
    }
  }

  async #run(
    { direction, retry }: Pick<CallRow, 'direction' | 'retry'>,
    { caller, script }: PreparedCaller,
    open: () => ReturnType<VirtualPhone['call']>,
  ): Promise<void> {
    const step = this.#step
    const startedAt = systemTime.now()
    this.#live++
    this.#begun++
    const result = await followCall({
      open,
      caller,
      script,
      checks: this.#part.scenario.checks,
      recogniser: this.#recogniser,
      cutOff: this.#cutOff.signal,
      isOutbound: direction === 'out',
      time: systemTime,
    })
    this.#live--
    if (result.setupMs === null && direction === 'out') {
      const retryAfterMs = 1000 * (result.end?.retryAfterS ?? 0)
      this.#arrivals.notAnswered({ begunAt: startedAt, retry, retryAfterMs })
    }
    const started_ms = startedAt - (this.#startedAt ?? startedAt)
    this.#events.onRow({
      ...rowOf(result),
      process: this.#part.index,
      direction,
      retry,
      caller: caller.name,
      step,
      started_ms,
    })
  }

  #choose(): PreparedCaller {
    const whole = this.#callers.reduce((sum, { caller }) => sum + caller.weight, 0)
    let left = (randomUint32(systemRandom) / 2 ** 32) * whole
    for (const prepared of this.#callers) {
      left -= prepared.caller.weight
      if (left < 0) return prepared
    }
    return this.#callers.at(-1)!
  }
}

function rowOf({ callId, end, setupMs, durationMs, replies, gaps, concealedMs, failures }: FleetCallResult) {
  const statistics = end?.media?.statistics
  return {
    call_id: callId,
    setup_ms: setupMs,
    duration_ms: durationMs,
    status: end?.sipStatus ?? null,
    cause: end?.cause ?? 'generator',
    ended_by: end?.by ?? 'local',
    reply_ms: replies,
    gaps: gaps.length,
    longest_gap_ms: Math.max(0, ...gaps.map(gap => gap.durationMs)),
    packets_received: statistics?.packetsReceived ?? 0,
    packets_lost: statistics?.packetsLost ?? 0,
    jitter_max_ms: statistics?.jitterMaxMs ?? 0,
    concealed_ms: concealedMs,
    failures,
  }
}

async function prepare(caller: FleetCaller, { scenario }: FleetPart, tones: TonesVoice): Promise<PreparedCaller> {
  const { voice, loss, loss_burst } = caller
  const spoken = voice === undefined ? {} : { voice: voice.voice_id, speed: voice.rate }
  const script = await CallerScript.prepare(caller.caller, new PhoneVoice(tones, caller.language, systemTime, spoken))
  const background = voice?.background
  return {
    caller,
    script,
    damage: {
      ...(background !== undefined &&
        background.kind !== 'none' && { background: { kind: background.kind, snrDb: background.snr_db } }),
      ...(voice?.echo != null && { echo: { levelDb: voice.echo.level_db, delayMs: voice.echo.delay_ms } }),
      loss,
      lossBurst: loss_burst,
      // A caller from the telephone network whose call reaches us with a wideband codec came through a gateway.
      transcoded: voice?.channel === 'pstn' && scenario.codecs.includes('G722'),
    },
  }
}

function callOptions({ damage }: PreparedCaller): PhoneCallOptions {
  return {
    ...CALL_OPTIONS,
    ...(LineDamage.changes(damage) && { damage: new LineDamage(damage, systemRandom) }),
  }
}

async function openPhone({ scenario, target, index, of, home }: FleetPart): Promise<VirtualPhone> {
  const { bind, rtp_ports, media_threads, packet_io, sip_port } = scenario.generator
  const tls = await ensureLocalCertificate(home, { addresses: [bind] })
  const size = 2 * Math.floor((rtp_ports.to - rtp_ports.from + 1) / (2 * of))
  const from = rtp_ports.from + index * size
  const port = sip_port === 0 ? 0 : sip_port + 2 * index
  return VirtualPhone.open({
    endpoint: {
      bind,
      udpPort: port,
      tcpPort: port,
      tlsPort: port === 0 ? 0 : port + 1,
      tls: { ...tls, ca: `${tls.ca}\n${target.ca}`, systemRoots: target.systemRoots },
      rtp: { bind, ports: { from, to: from + size - 1 }, threads: media_threads, packetIo: packet_io },
      userAgentName: 'Parley fleet',
    },
    name: 'fleet',
    security: SECURITY[scenario.media],
    codecs: scenario.codecs,
    maxWaitingCalls: scenario.load.most_calls,
    answerAfterMs: scenario.answer_after_ms,
    callOptions: () => CALL_OPTIONS,
  })
}

const SECURITY = { srtp: 'srtp-required', 'srtp-without-tls': 'srtp-without-tls', rtp: 'rtp-only' } as const

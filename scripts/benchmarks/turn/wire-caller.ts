import { setTimeout as sleep } from 'node:timers/promises'
import { type Ms, systemRandom } from '@parley/kernel'
import { dialLeg, type LegEnd, parseUri, type SipCallLeg, type SipUri } from '@parley/leg'
import type { UserAgent } from '@parley/sip'
import { HeardGaps } from './heard-gaps.ts'
import type { LiveWindow } from './live-window.ts'
import { scriptedLead } from './script.ts'
import { type MeasuredTurn, TurnMeter } from './turn-meter.ts'
import { type WireLine, wireClock } from './wire-line.ts'
import { WireMediaPlane } from './wire-media-plane.ts'

/** Time limit for the answer of the call, for silence of the agent, and for each of its answers. */
const STEP_TIMEOUT_MS: Ms = 20_000

interface WireCallerOptions {
  readonly userAgent: UserAgent
  readonly line: WireLine
  /** SIP URI of the agent. */
  readonly target: string
  /** Whether the call's audio is SRTP; its target is then reached over TLS. */
  readonly secure: boolean
  readonly name: string
  /** Audio of its turns, repeated from the first after the last; made with `crispEnd`. */
  readonly lines: readonly Int16Array[]
  /** Turns before the call counts as warm. */
  readonly warmUpTurns: number
  /** All turns of the call; null: it goes on until the window is over. */
  readonly turns: number | null
  /** Silence of the agent before each turn, ms. */
  readonly quietMs: Ms
  readonly window: Pick<LiveWindow<unknown>, 'isOver' | 'warm' | 'done' | 'broken'>
}

/** The result of a call. */
export interface MeasuredCall {
  readonly turns: readonly MeasuredTurn[]
  /** Lines that were begun. */
  readonly said: number
  /** Gaps of over 40 ms in what was heard, and the longest pause. */
  readonly gaps: HeardGaps['figures']
  /** Why the call ended before its last turn; null: it did not. */
  readonly broken: string | null
}

/**
 * Makes one call: waits for the end of the greeting, then says a line whenever the agent has been silent, and hangs up when the
 * last answer has begun. If anything else happens the call ends, and the turns before that count. Throws the errors of `dialLeg`.
 */
export async function measureCall(options: WireCallerOptions): Promise<MeasuredCall> {
  const { line, target, secure, name, userAgent, window, warmUpTurns } = options
  const meter = new TurnMeter()
  const gaps = new HeardGaps()
  const media = new WireMediaPlane(line, {
    sent: (at, frame, remaining) => meter.sent(at, frame, remaining),
    heard(at, frame) {
      gaps.hear(at, frame)
      meter.heard(at, frame)
    },
  })
  const leg = await dialLeg(
    { userAgent, media, random: systemRandom },
    {
      uri: parseUri(target) as SipUri,
      from: { displayName: undefined, uri: parseUri(`sip:${name}@127.0.0.1`)!, params: new Map() },
      security: secure ? 'srtp-required' : 'rtp-only',
      label: name,
    },
  )
  const turns: MeasuredTurn[] = []
  const said = { lines: 0 }
  let broken: string | null = null
  const call = watch(leg)
  try {
    await talk(options, { leg, call, meter, turns, said })
    window.done()
  } catch (error) {
    window.broken(turns.length >= warmUpTurns)
    broken = `${name}: ${error instanceof Error ? error.message : error}`
  } finally {
    leg.hangUp()
    await call.ended
    await media.close()
  }
  return { turns, said: said.lines, gaps: gaps.figures, broken }
}

interface Talk {
  readonly leg: SipCallLeg
  readonly call: ReturnType<typeof watch>
  readonly meter: TurnMeter
  readonly turns: MeasuredTurn[]
  readonly said: { lines: number }
}

/** The turns of a call. */
async function talk(options: WireCallerOptions, { leg, call, meter, turns, said }: Talk): Promise<void> {
  const { lines, quietMs, window, warmUpTurns } = options
  await call.before(call.answered, 'it was answered')
  for (let turn = 1; options.turns === null ? !window.isOver : turn <= options.turns; turn++) {
    await call.before(silence(meter, quietMs), `the agent was silent for turn ${turn}`)
    const pause = meter.turn()
    said.lines++
    leg.play(new Int16Array(scriptedLead(turn)))
    leg.play(lines[(turn - 1) % lines.length]!)
    turns.push(await call.before(pause, `turn ${turn} was answered`))
    if (turn === warmUpTurns) window.warm()
  }
}

/** Waits until the agent has been silent for `quietMs`. It ends by itself after twice the time limit. */
async function silence(meter: TurnMeter, quietMs: Ms): Promise<void> {
  for (const until = wireClock() + 2 * STEP_TIMEOUT_MS; wireClock() < until; ) {
    const remaining = (meter.lastHeardAt ?? wireClock()) + quietMs - wireClock()
    if (remaining <= 0) return
    await sleep(Math.max(1, remaining))
  }
}

function watch(leg: SipCallLeg) {
  const answered = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<LegEnd>()
  leg.onEvent(event => {
    if (event.type === 'answered') answered.resolve()
    if (event.type === 'ended') ended.resolve(event.end)
  })
  return {
    answered: answered.promise,
    ended: ended.promise,
    /** Awaits `event`. Throws after the time limit or if the call ends first. `what` describes the event. */
    async before<Result>(event: Promise<Result>, what: string): Promise<Result> {
      // Not a sleep that is aborted: each of those makes an error with its stack.
      const late = Promise.withResolvers<never>()
      const timer = setTimeout(() => late.reject(new Error(`${STEP_TIMEOUT_MS / 1000} s passed`)), STEP_TIMEOUT_MS)
      const over = ended.promise.then(end => {
        throw new Error(`the call ended (${end.cause} ${end.detail})`)
      })
      try {
        return await Promise.race([event, late.promise, over])
      } catch (error) {
        throw new Error(`${error instanceof Error ? error.message : error} before ${what}`, { cause: error })
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

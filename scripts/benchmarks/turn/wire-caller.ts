import { setTimeout as sleep } from 'node:timers/promises'
import { type Ms, systemRandom } from '@parley/kernel'
import { dialLeg, type LegEnd, parseUri, type SipCallLeg, type SipUri } from '@parley/leg'
import type { UserAgent } from '@parley/sip'
import { scriptedLead } from './script.ts'
import { type MeasuredTurn, TurnMeter } from './turn-meter.ts'
import { WireMediaPlane } from './wire-media-plane.ts'
import { wireClock } from './wire-session.ts'

/** Time limit for the answer of the call, for silence of the agent, and for each of its answers. */
const STEP_TIMEOUT_MS: Ms = 20_000

interface WireCallerOptions {
  readonly userAgent: UserAgent
  /** SIP URI of the agent. */
  readonly target: string
  readonly name: string
  /** Audio of its turns, repeated from the first after the last; made with `crispEnd`. */
  readonly lines: readonly Int16Array[]
  readonly turns: number
  /** Silence of the agent before each turn, ms. */
  readonly quietMs: Ms
}

/** The result of a call. */
export interface MeasuredCall {
  readonly turns: readonly MeasuredTurn[]
  /** Why the call ended before its last turn; null: it did not. */
  readonly broken: string | null
}

/**
 * Makes one call: waits for the end of the greeting, then says a line whenever the agent has been silent, and hangs up when the
 * last answer has begun. If anything else happens the call ends, and the turns before that count. Throws the errors of `dialLeg`.
 */
export async function measureCall(options: WireCallerOptions): Promise<MeasuredCall> {
  const { userAgent, target, name, lines, turns, quietMs } = options
  const meter = new TurnMeter()
  const media = new WireMediaPlane(meter)
  const leg = await dialLeg(
    { userAgent, media, random: systemRandom },
    {
      uri: parseUri(target) as SipUri,
      from: { displayName: undefined, uri: parseUri(`sip:${name}@127.0.0.1`)!, params: new Map() },
      security: 'rtp-only',
      label: name,
    },
  )
  const call = watch(leg)
  const measured: MeasuredTurn[] = []
  try {
    await call.before(call.answered, 'it was answered')
    for (let turn = 1; turn <= turns; turn++) {
      await call.before(silence(meter, quietMs), `the agent was silent for turn ${turn}`)
      const pause = meter.turn()
      leg.play(new Int16Array(scriptedLead(turn)))
      leg.play(lines[(turn - 1) % lines.length]!)
      measured.push(await call.before(pause, `turn ${turn} was answered`))
    }
    return { turns: measured, broken: null }
  } catch (error) {
    return { turns: measured, broken: `${name}: ${error instanceof Error ? error.message : error}` }
  } finally {
    leg.hangUp()
    await call.ended
    await media.close()
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
      const stop = new AbortController()
      const { signal } = stop
      const late = sleep(STEP_TIMEOUT_MS, null, { signal }).then(() => {
        throw new Error(`${STEP_TIMEOUT_MS / 1000} s passed`)
      })
      const over = ended.promise.then(end => {
        throw new Error(`the call ended (${end.cause} ${end.detail})`)
      })
      try {
        return await Promise.race([event, late, over])
      } catch (error) {
        throw new Error(`${error instanceof Error ? error.message : error} before ${what}`, { cause: error })
      } finally {
        stop.abort()
      }
    },
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { type Ms, systemRandom } from '@parley/kernel'
import { type CallLeg, dialLeg, type LegEnd, parseUri, type SipUri } from '@parley/leg'
import type { UserAgent } from '@parley/sip'
import { scriptedLead } from './script.ts'
import { type MeasuredTurn, TurnMeter } from './turn-meter.ts'
import { WireMediaPlane } from './wire-media-plane.ts'
import { wireClock } from './wire-session.ts'

/** For the call to be answered, for silence, for an answer. */
const PATIENCE_MS: Ms = 20_000

interface WireCallerOptions {
  readonly userAgent: UserAgent
  /** SIP URI of the agent. */
  readonly target: string
  readonly name: string
  /** Audio of its turns, repeated from the first after the last; made with `crispEnd`. */
  readonly lines: readonly Int16Array[]
  readonly turns: number
  /** So long the agent is silent before each turn. */
  readonly quietMs: Ms
}

/** What came of a call. */
export interface MeasuredCall {
  readonly turns: readonly MeasuredTurn[]
  /** Why it did not get to its last turn; null: it did. */
  readonly broken: string | null
}

/**
 * One call: hears the greeting out, then says a line whenever the agent has been silent, and hangs up after the last
 * answer began. A call that goes any other way is over: the turns before are good, those after would be of another script.
 * Throws what `dialLeg` throws.
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

/** The agent has spoken, and then been silent for `quietMs`. Gives up by itself, long after anybody waits for it. */
async function silence(meter: TurnMeter, quietMs: Ms): Promise<void> {
  for (const until = wireClock() + 2 * PATIENCE_MS; wireClock() < until; ) {
    const left = (meter.lastHeardAt ?? wireClock()) + quietMs - wireClock()
    if (left <= 0) return
    await sleep(Math.max(1, left))
  }
}

function watch(leg: CallLeg) {
  const answered = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<LegEnd>()
  leg.onEvent(event => {
    if (event.type === 'answered') answered.resolve()
    if (event.type === 'ended') ended.resolve(event.end)
  })
  return {
    answered: answered.promise,
    ended: ended.promise,
    /** What `wanted` gives. Throws when it takes too long, and when the call ends first. */
    async before<Result>(wanted: Promise<Result>, what: string): Promise<Result> {
      const stop = new AbortController()
      const { signal } = stop
      const late = sleep(PATIENCE_MS, null, { signal }).then(() => {
        throw new Error(`${PATIENCE_MS / 1000} s passed`)
      })
      const over = ended.promise.then(end => {
        throw new Error(`the call ended (${end.cause} ${end.detail})`)
      })
      try {
        return await Promise.race([wanted, late, over])
      } catch (error) {
        throw new Error(`${error instanceof Error ? error.message : error} before ${what}`, { cause: error })
      } finally {
        stop.abort()
      }
    },
  }
}

import { tagOf } from '@parley/leg'
import { Attack } from './attacks/attack.ts'
import {
  ATTACKER,
  AttackHarness,
  healthFigures,
  isUnharmed,
  LIMITED_CPS,
  LIMITED_TOKEN,
  TOKEN,
} from './attacks/attack-harness.ts'
import type { DialogInjection, DialogInjectionResult } from './attacks/dialog-injection.ts'
import type { SipFlood, SipFloodResult } from './attacks/sip-flood.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const INJECTIONS_PER_SECOND = 500
const CALLS_PER_SECOND = 2000
/** Time after which an injected request of the attacker has a higher CSeq than any of the live call. */
const FIRST_SEQUENCE = 1_000_000_000

/** A planted fault, which the proof must report: the caller itself hangs up during the attack. */
type Planted = 'nothing' | 'the caller hangs up'

interface Figures {
  readonly ok: boolean
  readonly figures: object
}

/**
 * What someone who knows everything can do to a live call over TLS, from a process of its own: requests in its dialog over UDP and
 * TCP; offers that would send the engine's media to addresses of its network; and more calls per second than a trunk may begin.
 * `count` requests of each kind.
 */
export async function proveStrangers(
  { count, line, progress }: ProofOptions,
  planted: Planted = 'nothing',
): Promise<ProofOutcome> {
  const harness = await AttackHarness.open({ maxCalls: 200 })
  try {
    const attacks = [
      { attack: 'dialog-injection', run: () => injectRequests(harness, count) },
      { attack: 'media-destinations', run: () => offerDestinations(harness, Math.min(count, 200)) },
      { attack: 'call-rate', run: () => exceedRate(harness, count) },
    ]
    let ok = true
    for (const { attack, run } of planted === 'nothing' ? attacks : attacks.slice(0, 1)) {
      progress(attack)
      if (planted === 'the caller hangs up') setTimeout(() => harness.live.leg.hangUp(), 500)
      const result = await run()
      line({ proof: 'strangers', attack, ok: result.ok, ...result.figures })
      ok &&= result.ok
    }
    const health = await harness.finish()
    return { ok: ok && isUnharmed(health), summary: { live_call: healthFigures(health) } }
  } finally {
    await harness.close()
  }
}

async function injectRequests(harness: AttackHarness, count: number): Promise<Figures> {
  const { leg } = harness.live
  const { dialog } = leg
  if (dialog === null) throw new Error('the live call has no dialog')
  const statuses: Record<string, number> = {}
  for (const transport of ['udp', 'tcp'] as const) {
    const attack = new Attack<DialogInjectionResult>('dialog-injection.ts', {
      transport,
      port: harness.engine.endpoint.port(transport),
      from: ATTACKER,
      uri: harness.uri,
      callId: leg.callId,
      fromTag: tagOf(leg.invite.from) ?? dialog.localTag,
      toTag: dialog.remoteTag,
      sequence: FIRST_SEQUENCE,
      count,
      perSecond: INJECTIONS_PER_SECOND,
    } satisfies DialogInjection)
    try {
      const result = await attack.result
      for (const [status, times] of Object.entries(result.statuses)) statuses[status] = (statuses[status] ?? 0) + times
    } finally {
      await attack.end()
    }
  }
  const carriedOut = Object.keys(statuses).some(status => status !== '481')
  const ok = !carriedOut && leg.state === 'active' && leg.transport?.signalling === 'tls'
  return { ok, figures: { sent: 2 * count, statuses, call: leg.state, signalling: leg.transport?.signalling } }
}

async function offerDestinations(harness: AttackHarness, count: number): Promise<Figures> {
  const { endpoint } = harness.engine
  const forbidden = [
    '169.254.169.254:20000',
    '127.0.0.2:53',
    `127.0.0.1:${harness.rtpPort}`,
    `127.0.0.1:${endpoint.port('udp')}`,
  ]
  const before = harness.engine.calls.size
  const refused = await invite(harness, { uri: `sip:${TOKEN}@localhost`, count, media: forbidden })
  const hidden = await invite(
    harness,
    { uri: `sip:${TOKEN}@localhost`, count: 4, media: ['10.9.9.9:20000', '192.168.9.9:20000'] },
    async () => {
      const calls = [...harness.engine.calls].slice(before)
      return Promise.all(calls.map(async call => (await call.leg.statistics()).packetsSent))
    },
  )
  const packets = (hidden.during ?? []).reduce((sum, sent) => sum + sent, 0)
  const ok = refused.result.statuses['488'] === count && hidden.during?.length === 4 && packets === 0
  return {
    ok,
    figures: {
      offers_of_forbidden_addresses: count,
      statuses: refused.result.statuses,
      calls_to_private_addresses: hidden.during?.length,
      packets_to_private_addresses: packets,
    },
  }
}

async function exceedRate(harness: AttackHarness, count: number): Promise<Figures> {
  const before = harness.callsAccepted
  const began = performance.now()
  const { result } = await invite(harness, { uri: `sip:${LIMITED_TOKEN}@localhost`, count })
  const accepted = harness.callsAccepted - before
  // The engine may take them up to its answer to the last one.
  const seconds = (performance.now() - began) / 1000
  const allowed = Math.ceil((2 + seconds) * LIMITED_CPS)
  const ok = accepted <= allowed && result.retryAfter >= count - allowed
  const figures = {
    sent: count,
    seconds: Math.round(seconds * 10) / 10,
    accepted,
    allowed,
    refused_with_retry_after: result.retryAfter,
  }
  return { ok, figures }
}

/** Sends INVITEs over TLS; `during` is asked before the attacker hangs up what was answered. */
async function invite<During = never>(
  harness: AttackHarness,
  job: Pick<SipFlood, 'uri' | 'count' | 'media'>,
  during?: () => Promise<During>,
): Promise<{ readonly result: SipFloodResult; readonly during: During | undefined }> {
  const attack = new Attack<SipFloodResult>('sip-flood.ts', {
    transport: 'tls',
    port: harness.engine.endpoint.port('tls'),
    from: ATTACKER,
    sockets: 4,
    perSecond: CALLS_PER_SECOND,
    methods: ['INVITE'],
    ca: harness.ca,
    lingerMs: 500,
    awaitsAnswers: true,
    ...job,
  } satisfies SipFlood)
  try {
    const result = await attack.result
    return { result, during: await during?.() }
  } finally {
    await attack.end()
  }
}

export const proof: Proof = { name: 'strangers', seconds: 120, count: 10_000, run: options => proveStrangers(options) }

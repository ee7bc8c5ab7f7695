import { TonesRecogniser } from '@parley/providers'
import { beforeAll, describe, expect, it } from 'vitest'
import { startBaresipCallee } from './baresip.ts'
import { factsOf, linesOf, pathOf } from './call-evidence.ts'
import { formatAgents } from './conversation-flows.ts'
import { ConversationHarness } from './conversation-harness.ts'
import { LiveTranscript } from './live-transcript.ts'
import { microphone } from './microphone.ts'
import { atLastTestEnd } from './recipe.ts'
import { BARESIP_PROGRAMS, requires } from './skip.ts'
import { readMonoWav } from './speech-match.ts'

const peer = requires(BARESIP_PROGRAMS)
const atEnd = atLastTestEnd()
let harness: ConversationHarness

describe.skipIf(peer.missing)(`an agent that transfers its caller${peer.note}`, () => {
  beforeAll(async () => {
    const { switchboard } = formatAgents('')
    harness = await ConversationHarness.open({ agents: () => ({ switchboard: switchboard! }) }, atEnd)
  })

  it('the agent announces the transfer; then the caller hears the shop, and the agent has hung up', async ({
    onTestFinished: atTestEnd,
  }) => {
    const proxy = harness.phoneUri.replace(/sip:[^@]+@/, 'sip:')
    const callee = await startBaresipCallee({
      callSeconds: 40,
      outboundProxy: proxy,
      wavIn: microphone(atTestEnd),
      atTestEnd,
    })
    const call = await harness.dialOut('switchboard', callee.uri)
    const shop = await harness.answerOnPhone()
    await shop.waitFor('answered', 60_000)
    await shop.say('Flower shop, this is Anna.')
    await shop.wait(500)
    await shop.hangUp()
    const report = await call.report
    const transferred = await callee.finished
    expect(transferred.exitCode, transferred.output).toBe(0)
    expect(transferred.log).toMatch(/^Refer-To: <?sip:\+12025550123@127\.0\.0\.1;user=phone/im)
    expect(transferred.log).toMatch(/^X-Reason: roses/im)
    expect(report.run).toMatchObject({ state: 'completed', outcome: { kind: 'transferred', ended_by: 'agent' } })
    expect(pathOf(report)).toEqual(['hello (start)', 'shop (edge on)'])
    expect(linesOf(report, 'agent')).toEqual(['I put you through to the shop.'])
    const [, succeeded] = factsOf(report, 'action')
    expect(harness.effect(succeeded!.effect_id)).toMatchObject({
      effect_kind: 'sip_transfer',
      state: 'succeeded',
      receipts: [{ kind: 'sip_transfer', refer_status: 202, final_sip_status: 200 }],
    })
    const transcript = new LiveTranscript(new TonesRecogniser(), from =>
      readMonoWav(transferred.heardWav!).subarray(from),
    )
    await transcript.untilHears(/I put you through to the shop\. .*Flower shop, this is Anna\./, 0)
  })
})

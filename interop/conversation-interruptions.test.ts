import type { Draft } from '@parley/flow'
import { type Ms, msToSamples, NARROWBAND, SeededRandom } from '@parley/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectConsistent, factsOf, linesOf, recordingOf, soundsIn } from './call-evidence.ts'
import { draftOf, endNode, promptEdge, staticNode } from './conversation-flows.ts'
import { ConversationHarness } from './conversation-harness.ts'
import { closeTestVoice, spoken } from './engine.ts'
import { atLastTestEnd } from './recipe.ts'

const GREETING =
  'Welcome to the house of many words, where every sentence is long enough to be interrupted by anybody who calls.'
const QUESTION = 'Please stop, I want to know the price.'
/** Longest time from the caller's first sound to the agent's last. */
const LONGEST_OVERLAP_MS: Ms = 700
/** The agent is silent this soon after the interruption's time in the timeline. */
const SILENT_WITHIN_MS: Ms = 100

const agents = (): Record<string, Draft> => ({
  talker: draftOf([
    staticNode('hello', GREETING, { edges: [promptEdge('price', 'price', 'The caller asks for the price')] }),
    endNode('price', 'It costs ten dollars. Goodbye.'),
  ]),
})

const atEnd = atLastTestEnd()
let harness: ConversationHarness

beforeAll(async () => {
  harness = await ConversationHarness.open({ agents }, atEnd)
})
afterAll(closeTestVoice)

describe('a caller who speaks while the agent speaks', { concurrent: true }, () => {
  it('barge-in silences the agent at once, and the transcript has only the words that were played', async () => {
    const finished = await harness.call('talker', [
      { type: 'interrupt', afterMs: 1500, by: { type: 'say', text: QUESTION } },
      { type: 'hung-up', withinMs: 20_000 },
    ])
    await expectConsistent(finished)
    const { report } = finished
    const [greeting, , answer] = report.utterances
    const [cut, ...more] = factsOf(report, 'interruption')
    expect(more).toEqual([])
    expect(cut).toMatchObject({ index: 0, resumed: false })
    expect(greeting).toMatchObject({ role: 'agent', interrupted: true })
    expect(GREETING.startsWith(greeting!.text)).toBe(true)
    expect(greeting!.text.split(' ').length).toBeGreaterThan(2)
    expect(answer).toMatchObject({ text: 'It costs ten dollars. Goodbye.', interrupted: false })

    const { agent, caller } = recordingOf(report)
    const quietFrom = cut!.offset_ms! + SILENT_WITHIN_MS
    const between = agent.subarray(msToSamples(quietFrom, NARROWBAND), msToSamples(answer!.start_ms!, NARROWBAND))
    expect(between.length).toBeGreaterThan(msToSamples(1000, NARROWBAND))
    expect(soundsIn(between)).toEqual([])
    const lastOfGreeting = soundsIn(agent)[0]!.toMs
    const firstOfCaller = soundsIn(caller)[0]!.fromMs
    expect(lastOfGreeting - firstOfCaller).toBeGreaterThan(0)
    expect(lastOfGreeting - firstOfCaller).toBeLessThan(LONGEST_OVERLAP_MS)
  })

  it.each([
    ['a cough', cough],
    ['a burst of noise', noise],
  ])(
    '%s does not interrupt: the agent resumes where it paused, and the phone understands the whole sentence',
    async (_what, sound) => {
      const audio = await sound(400)
      const { phone, finish } = await harness.dial('talker')
      await phone.untilAgentTalks(1500)
      await phone.speak(audio)
      await phone.untilHears('who calls', 20_000)
      await phone.untilAgentQuiet(300)
      await phone.hangUp()
      const finished = await finish()
      await expectConsistent(finished)
      const { report } = finished
      expect(report.utterances.map(({ role, text, interrupted }) => [role, text, interrupted])).toEqual([
        ['agent', GREETING, false],
      ])
      for (const { resumed } of factsOf(report, 'interruption')) expect(resumed).toBe(true)
    },
  )

  it('a backchannel such as "uh-huh" takes no turn: the agent speaks on without a pause', async () => {
    const { phone, finish } = await harness.dial('talker')
    await phone.untilAgentTalks(1500)
    await phone.say('Yeah.')
    await phone.untilHears('who calls', 20_000)
    await phone.untilAgentQuiet(1500)
    await phone.hangUp()
    const finished = await finish()
    await expectConsistent(finished)
    expect(linesOf(finished.report, 'agent')).toEqual([GREETING])
    expect(linesOf(finished.report, 'user')).toEqual([])
  })
})

/** Speech that the recogniser does not understand as a word. */
async function cough(ms: Ms): Promise<Int16Array> {
  const voice = await spoken('Ahem, ahem, ahem.')
  const from = voice.findIndex(sample => Math.abs(sample) > 500)
  return voice.slice(from, from + msToSamples(ms, NARROWBAND))
}

async function noise(ms: Ms): Promise<Int16Array> {
  return Int16Array.from(new SeededRandom(1).bytes(msToSamples(ms, NARROWBAND)), byte => 32 * (byte - 128))
}

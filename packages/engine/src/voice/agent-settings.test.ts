import { compile } from '@parley/flow'
import { afterEach, expect, it } from 'vitest'
import { AudioHarness } from '../testing/audio-harness.ts'
import { greeter } from '../testing/drafts.ts'
import { dialogueOptions } from './dialogue-options.ts'
import type { VoiceAgent } from './voice-agent.ts'

let call: AudioHarness | null = null

afterEach(async () => {
  call?.caller.hangUp()
  await call?.pass(200)
  call = null
})

function optionsWith(settings: NonNullable<typeof greeter.settings>) {
  const compiled = compile({ ...greeter, settings })
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
  return dialogueOptions({ plan: compiled.plan } as VoiceAgent)
}

it('the turn machine gets the backchannel settings of the agent', () => {
  const settings = { enableBackchannel: true, backchannelFrequency: 0.25, backchannelWords: ['yeah', 'right'] }
  expect(optionsWith(settings).backchannel).toEqual({ enabled: true, frequency: 0.25, words: ['yeah', 'right'] })
})

it('the recogniser gets the boosted keywords of the agent', async () => {
  call = await AudioHarness.open({ draft: { ...greeter, settings: { boostedKeywords: ['Parley', 'Ana'] } } })
  await call.until(() => call!.recogniser.opened.length > 0, 3000, 'the recogniser is open')
  expect(call.recogniser.keywords).toEqual(['Parley', 'Ana'])
})

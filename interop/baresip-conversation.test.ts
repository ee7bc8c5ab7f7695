import { readFileSync } from 'node:fs'
import { ExampleServer, exampleDraft, withOrigin } from '@parley/examples'
import { readWav } from '@parley/media'
import { loudness } from '@parley/phone/testing'
import { TonesRecogniser } from '@parley/providers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AgentServices } from './agent-services.ts'
import { startBaresipCall } from './baresip.ts'
import { linesOf, pathOf } from './call-evidence.ts'
import type { AtTestEnd } from './clean-up.ts'
import { closeTestVoice, type EngineUnderTest, spoken, startEngine, TOKEN } from './engine.ts'
import { LiveTranscript } from './live-transcript.ts'
import { microphone } from './microphone.ts'
import { atLastTestEnd } from './recipe.ts'
import { startServing } from './serving.ts'
import { BARESIP_PROGRAMS, requires } from './skip.ts'

const peer = requires(BARESIP_PROGRAMS)
const recogniser = new TonesRecogniser()

/** The keys, each with the question that it answers. */
type Keys = readonly (readonly [question: RegExp, keys: string])[]

const FROM_THE_NUMBER: Keys = [
  [/patient number/i, '1042'],
  [/Which day/i, '2'],
  [/Which time/i, '1'],
  [/Shall I book/i, '1'],
]
const ALL_KEYS: Keys = [[/press 1/i, '1'], ...FROM_THE_NUMBER]
const BOOKED = /You are booked for .+ at .+\. Goodbye\./

/** A caller with a softphone: waits for each question, presses its keys, then waits for the agent to hang up. */
async function byKeys(target: string, wavIn: string, keys: Keys, atTestEnd: AtTestEnd) {
  const call = await startBaresipCall({ target, wavIn, callSeconds: 100, atTestEnd })
  const transcript = new LiveTranscript(recogniser, call.received)
  for (const [question, digits] of keys) {
    await transcript.untilHears(question)
    call.press(digits)
  }
  await transcript.untilHears(BOOKED)
  const { exitCode, log, output } = await call.finished
  expect(exitCode, output).toBe(0)
  expect(log).toContain('SRTP is Enabled')
  // The agent hangs up.
  expect(log).toMatch(/^BYE sip:caller/m)
  return { agentWords: transcript.text, callId: /^Call-ID: (\S+)/m.exec(log)![1]! }
}

/** Each of the two agents has a clinic of its own. */
const CLINICS = ['keys', 'voice'] as const
const atEnd = atLastTestEnd()
let under: EngineUnderTest
const servers = {} as Record<(typeof CLINICS)[number], ExampleServer>

async function openClinics(): Promise<void> {
  for (const name of CLINICS) servers[name] = await ExampleServer.open()
  const services = new AgentServices(...CLINICS.map(name => servers[name].origin))
  atEnd(() => services.close())
  for (const name of CLINICS) atEnd(() => servers[name].close())
  const { draft } = exampleDraft('clinic')
  await services.rehearse(draft)
  const routes = CLINICS.map(name => {
    const agent = services.agent(name, withOrigin(draft, servers[name].origin))
    return { token: TOKEN + name, security: 'srtp-required', agent } as const
  })
  under = await startEngine({ voice: services.voice, routes }, atEnd)
}

const uriOf = (name: (typeof CLINICS)[number]) => under.uri.replace(TOKEN, TOKEN + name)

describe.skipIf(peer.missing)(`baresip calls the clinic${peer.note}`, { concurrent: true }, () => {
  beforeAll(openClinics, 60_000)
  afterAll(closeTestVoice)
  afterAll(() => recogniser.close())

  it('a caller books an appointment by keys alone', async ({ onTestFinished: atTestEnd }) => {
    const { callId } = await byKeys(uriOf('keys'), microphone(atTestEnd), ALL_KEYS, atTestEnd)
    const report = await under.reportOf(callId)
    expect(report.run).toMatchObject({
      state: 'completed',
      outcome: { kind: 'completed', ended_by: 'agent', sip_status: 200 },
    })
    expect(servers.keys.bookings).toMatchObject([{ patient: '1042' }])
    expect(report.digits).toBe('11042211')
    expect(linesOf(report, 'user')).toEqual([])
    expect(audibleChannels(report.end.media!.recording!.path)).toEqual({ caller: false, agent: true })
  })

  it('a caller who speaks hears that only keys are understood, and books by keys', async ({
    onTestFinished: atTestEnd,
  }) => {
    const wish = await spoken('Good morning, I would like to book an appointment, please.')
    const wavIn = microphone(atTestEnd, wish, 8000)
    const { agentWords, callId } = await byKeys(uriOf('voice'), wavIn, FROM_THE_NUMBER, atTestEnd)
    expect(agentWords).toContain("understands only Parley's own phone. Please go on with the keys.")
    const report = await under.reportOf(callId)
    expect(report.run.outcome).toMatchObject({ kind: 'completed', ended_by: 'agent' })
    expect(pathOf(report).slice(0, 3)).toEqual([
      'welcome (start)',
      'use_keys (edge unheard)',
      'ask_number (edge number)',
    ])
    expect(servers.voice.bookings).toMatchObject([{ patient: '1042' }])
    expect(audibleChannels(report.end.media!.recording!.path)).toEqual({ caller: true, agent: true })
  })

  it('a caller of the platform that "npm start" runs books by DTMF, and the process then ends cleanly', async ({
    onTestFinished: atTestEnd,
  }) => {
    const serving = await startServing(atTestEnd)
    expect(serving.demo.sip).toMatch(/^sip:[0-9a-z]{26,32}@127\.0\.0\.1:\d+;transport=tls$/)
    await byKeys(serving.demo.sip!, microphone(atTestEnd), ALL_KEYS, atTestEnd)
    expect(await serving.stop(), serving.output()).toBe(0)
    expect(serving.recordings()).toHaveLength(1)
    expect(audibleChannels(serving.recordings()[0]!)).toEqual({ caller: false, agent: true })
  })
})

/** Which channels of a recording have sound. */
function audibleChannels(path: string): { readonly caller: boolean; readonly agent: boolean } {
  const [caller, agent] = readWav(readFileSync(path)).channels.map(channel => loudness(channel) > 0.005)
  return { caller: caller!, agent: agent! }
}

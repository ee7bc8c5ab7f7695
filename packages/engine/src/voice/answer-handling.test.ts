import type { Draft } from '@parley/flow'
import { type Ms, msToSamples, NARROWBAND, samplesToMs } from '@parley/kernel'
import { SyntheticSound } from '@parley/media/testing'
import { afterEach, expect, it } from 'vitest'
import { AudioHarness, find, type HarnessOptions, speaks } from '../testing/audio-harness.ts'
import { voiceSound } from '../testing/sounds.ts'

/** What an agent does with machines that answer its calls, tested by what is on the line. */

const GREETING = "Hi you've reached John I cannot take your call please leave a message after the tone"
const SCREENER = 'Hi please record your name and the reason for calling'
const MENU = 'For sales press one for support press two for anything else press three'
const MESSAGE = 'This is the clinic. Please call us back about your appointment.'

const providers = {
  stt: { provider: 'simulated', model: 'tones-1' },
  llm: { provider: 'simulated_hosted', model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' } },
  tts: { provider: 'simulated', model: 'tones-1' },
} as const

function draft(settings: Draft['settings']): Draft {
  return {
    name: 'Clinic',
    settings: { channels: ['phone'], ...settings },
    providers,
    flow: {
      start_node_id: 'hello',
      nodes: [
        { id: 'hello', type: 'conversation', instruction: { type: 'static_text', text: 'Hello, is this John?' } },
        { id: 'end', type: 'end', global_node_setting: { condition: 'wants to end' } },
      ],
    },
  }
}

const VOICEMAIL = { enabled: true, action: 'hangup' } as const
const LEAVES = {
  enabled: true,
  action: 'leave_message',
  message: { type: 'static_text', text: MESSAGE },
} as const
const ALL: Draft['settings'] = {
  voicemail: VOICEMAIL,
  ivr: { enabled: true, action: 'hangup' },
  callScreening: { enabled: true, identity: 'the clinic', purpose: 'your appointment' },
}

let call: AudioHarness | null = null

afterEach(async () => {
  call?.caller.hangUp()
  await call?.pass(300)
  call = null
})

async function open(settings: Draft['settings'], options: Partial<HarnessOptions> = {}): Promise<AudioHarness> {
  const harness = await AudioHarness.open({ draft: draft(settings), ...options })
  call = harness
  await harness.pass(600)
  return harness
}

const beep = (ms: Ms, hz: number) => new SyntheticSound(ms).tones(0, ms, -15, hz).samples

/** Plays a beep and returns the position in `heard` at which it ends. */
async function beeps(harness: AudioHarness, ms: Ms, hz = 1000): Promise<number> {
  harness.caller.play(beep(ms, hz))
  await harness.pass(ms)
  return harness.heardNow()
}

async function ended(harness: AudioHarness, within: Ms = 10_000): Promise<NonNullable<AudioHarness['report']>> {
  await harness.until(() => harness.report !== null, within, 'the call ends')
  return harness.report!
}

const classes = (harness: AudioHarness) => harness.timeline('contact').map(item => item.class)

it('an agent that is to hang up at a mailbox does so before the greeting is over', async () => {
  const harness = await open(ALL)
  const ms = harness.says(GREETING)
  const { run } = await ended(harness, ms)
  expect(run).toMatchObject({
    state: 'completed',
    outcome: { kind: 'voicemail', detail: 'hung_up', ended_by: 'agent' },
  })
  expect(harness.timeline('contact')).toMatchObject([
    {
      contact: 'voicemail',
      detected: 'voicemail',
      class: 'voicemail',
      evidence: expect.arrayContaining([expect.stringMatching(/^words: /)]),
    },
  ])
})

it('a message begins within 300 ms of the beep, is whole, and the call ends after it', async () => {
  const harness = await open({ voicemail: LEAVES })
  await harness.pass(harness.says(GREETING) + 700)
  const end = await beeps(harness, 400)
  const { run, utterances } = await ended(harness, 20_000)
  expect(run.outcome).toMatchObject({ kind: 'voicemail', detail: 'message_left', ended_by: 'agent' })
  const [first, second] = ['This is the clinic.', 'Please call us back about your appointment.'].map(text =>
    harness.voice.sound(text),
  )
  const start = find(harness.heard(), first!)
  expect(start.likeness).toBeGreaterThan(0.9)
  expect(samplesToMs(start.at - end, NARROWBAND)).toBeGreaterThanOrEqual(0)
  expect(samplesToMs(start.at - end, NARROWBAND)).toBeLessThanOrEqual(300)
  const last = find(harness.heard(), second!.subarray(second!.length - msToSamples(100, NARROWBAND)), start.at)
  expect(last.likeness).toBeGreaterThan(0.9)
  expect(utterances.at(-1)).toMatchObject({ role: 'agent', text: MESSAGE, interrupted: false })
})

it('a message that is left before the flow entered a node belongs to no node', async () => {
  const harness = await open({ voicemail: LEAVES, openerWaitsForCallee: true })
  await harness.pass(harness.says(GREETING) + 700)
  await beeps(harness, 400)
  const { utterances } = await ended(harness, 20_000)
  expect(utterances.at(-1)).toMatchObject({ text: MESSAGE, node_id: null })
})

it('where no beep comes the message begins after the silence, and again when the greeting goes on', async () => {
  const harness = await open({ voicemail: LEAVES })
  await harness.pass(harness.says('Sorry I missed your call leave a message') + 3000)
  expect(classes(harness)).toEqual(['voicemail'])
  await harness.pass(harness.says('or call me at the office tomorrow morning') + 500)
  const end = await beeps(harness, 300, 850)
  const { run } = await ended(harness, 20_000)
  expect(run.outcome).toMatchObject({ kind: 'voicemail', detail: 'message_left' })
  const start = find(harness.heard(), harness.voice.sound('This is the clinic.'), end)
  expect(start.likeness).toBeGreaterThan(0.9)
  expect(samplesToMs(start.at - end, NARROWBAND)).toBeLessThanOrEqual(300)
})

it('a message by the model is written while the greeting is spoken', async () => {
  const voicemail = { ...LEAVES, message: { type: 'prompt', text: 'Ask for a call back.' } } as const
  const harness = await open({ voicemail }, { answers: [speaks('Call us back please.')] })
  await harness.pass(harness.says(GREETING) + 700)
  const end = await beeps(harness, 400)
  const { utterances } = await ended(harness, 20_000)
  const start = find(harness.heard(), harness.voice.sound('Call us back please.'), end)
  expect(start.likeness).toBeGreaterThan(0.9)
  expect(samplesToMs(start.at - end, NARROWBAND)).toBeLessThanOrEqual(300)
  expect(utterances.at(-1)).toMatchObject({ text: 'Call us back please.' })
})

it('a mailbox that is full gets no message', async () => {
  const harness = await open({ voicemail: LEAVES })
  harness.says('The mailbox is full and cannot accept any messages at this time goodbye')
  const { run } = await ended(harness)
  expect(run.outcome).toMatchObject({ kind: 'voicemail', detail: 'mailbox_unavailable' })
  expect(classes(harness)).toEqual(['mailbox_unavailable'])
})

it('a mailbox is treated as a person where the agent has no setting for it, and the run says what it is', async () => {
  const harness = await open({ ivr: { enabled: true, action: 'hangup' } })
  await harness.pass(harness.says(GREETING) + 2000)
  expect(harness.report).toBeNull()
  expect(classes(harness)).toEqual(['voicemail'])
})

it('a screener that asks is told name and purpose, and the person who comes is greeted anew', async () => {
  const harness = await open(ALL)
  await harness.pass(harness.says(SCREENER))
  const asked = harness.heardNow()
  await harness.pass(8000)
  const answer = find(harness.heard(), harness.voice.sound('Hello, this is the clinic.'), asked)
  expect(answer.likeness).toBeGreaterThan(0.9)
  expect(samplesToMs(answer.at - asked, NARROWBAND)).toBeLessThanOrEqual(1200)
  const came = harness.heardNow()
  await harness.pass(harness.says('Hello') + 4000)
  expect(classes(harness)).toEqual(['screener', 'human'])
  expect(find(harness.heard(), harness.voice.sound('Hello, is this John?'), came).likeness).toBeGreaterThan(0.9)
})

it('an agent that hangs up at mailboxes waits while words fit a screener as well, and then answers the screener', async () => {
  const harness = await open(ALL)
  await harness.pass(harness.says('The person you are calling would like to know who this is') + 100)
  await harness.pass(harness.says('Please record your name and the reason for calling') + 2500)
  expect(classes(harness)).toEqual(['voicemail', 'screener'])
  expect(harness.report).toBeNull()
  expect(find(harness.heard(), harness.voice.sound('Hello, this is the clinic.')).likeness).toBeGreaterThan(0.9)
})

it('an agent that hangs up at mailboxes does so after a recording that named none', async () => {
  const harness = await open(ALL)
  const ms = harness.says('The person you are calling thanks you for your interest')
  const { run } = await ended(harness, ms + 6000)
  expect(run.outcome).toMatchObject({ kind: 'voicemail', detail: 'hung_up', ended_by: 'agent' })
})

it('a screener that asks twice is answered twice', async () => {
  const harness = await open(ALL)
  await harness.pass(harness.says(SCREENER) + 6500)
  const asked = harness.heardNow()
  await harness.pass(harness.says('And what is the reason for your call') + 5000)
  expect(find(harness.heard(), harness.voice.sound('Hello, this is the clinic.'), asked).likeness).toBeGreaterThan(0.9)
  expect(classes(harness)).toEqual(['screener'])
})

it.each([2000, 3000, 4500])(
  'a person behind a screener is greeted when words come %i ms late and the screener pauses',
  async lag => {
    const harness = await open(ALL, { recogniserLagMs: lag })
    await harness.pass(harness.says('Hi if you record your name') + 3000)
    const asks = harness.says('and reason for calling I will see if this person is available')
    // The agent has answered in the pause, and answers again.
    await harness.pass(asks + lag + 6000)
    expect(find(harness.heard(), harness.voice.sound('Hello, this is the clinic.')).likeness).toBeGreaterThan(0.9)
    const came = harness.heardNow()
    await harness.pass(harness.says('Hello') + lag + 4000)
    expect(classes(harness)).toEqual(['human', 'screener', 'human'])
    expect(find(harness.heard(), harness.voice.sound('Hello, is this John?'), came).likeness).toBeGreaterThan(0.9)
  },
)

it('a message that is being left gives way to the answer to a screener, whose words come late', async () => {
  const harness = await open({ ...ALL, voicemail: LEAVES }, { recogniserLagMs: 2650 })
  await harness.pass(harness.says('The person you are calling asks you please to say your name') + 7000)
  expect(classes(harness)).toEqual(['voicemail', 'screener'])
  expect(find(harness.heard(), harness.voice.sound('This is the clinic.')).likeness).toBeGreaterThan(0.9)
  expect(find(harness.heard(), harness.voice.sound('Hello, this is the clinic.')).likeness).toBeGreaterThan(0.9)
})

it('a screener that says more than the agent answers does not hide the person who comes', async () => {
  const harness = await open(ALL)
  await harness.pass(harness.says(SCREENER) + 6500)
  await harness.pass(harness.says('Please stay on the line') + 5500)
  await harness.pass(harness.says('The person you are calling is being asked') + 5500)
  const came = harness.heardNow()
  await harness.pass(harness.says('Hello') + 4000)
  expect(classes(harness)).toEqual(['screener', 'human'])
  expect(find(harness.heard(), harness.voice.sound('Hello, is this John?'), came).likeness).toBeGreaterThan(0.9)
})

it('a call ends when no person comes within 30 s of the answer to a screener', async () => {
  const harness = await open(ALL)
  await harness.pass(harness.says(SCREENER))
  const { run } = await ended(harness, 45_000)
  expect(run.outcome).toMatchObject({ kind: 'no_answer', detail: 'screener', ended_by: 'agent' })
})

it('an agent that is to hang up at a menu does so', async () => {
  const harness = await open(ALL)
  harness.says(MENU)
  const { run } = await ended(harness)
  expect(run.outcome).toMatchObject({ kind: 'agent_hung_up', detail: 'ivr' })
})

it('an agent that is to hang up at a menu waits for words while it hears music alone', async () => {
  const harness = await open(ALL)
  harness.caller.play(voiceSound(4500))
  await harness.pass(4500)
  expect(harness.timeline('contact')).toMatchObject([
    { class: 'ivr', confidence: 0.6, evidence: [expect.stringMatching(/^voice without words for /)] },
  ])
  expect(harness.report).toBeNull()
  harness.says(MENU)
  const { run } = await ended(harness)
  expect(run.outcome).toMatchObject({ kind: 'agent_hung_up', detail: 'ivr' })
})

it('an agent that navigates a menu gives up when it hears the same menu for the fourth time', async () => {
  const harness = await open({ ivr: { enabled: true, action: 'navigate' } })
  for (let heard = 1; heard <= 3; heard++) {
    await harness.pass(harness.says(MENU) + 4000)
    expect(harness.report).toBeNull()
  }
  harness.says(MENU)
  const { run } = await ended(harness)
  expect(run.outcome).toMatchObject({ kind: 'agent_hung_up', detail: 'ivr' })
})

it('an inbound call of a mailbox is not judged where no setting asks for it', async () => {
  const harness = await open({})
  await harness.pass(harness.says(GREETING) + 1000)
  expect(classes(harness)).toEqual([])
  expect(harness.report).toBeNull()
})

it('an agent that a fax or an announcement calls goes on, and the run says what called', async () => {
  const fax = await open(ALL)
  await beeps(fax, 2500, 2100)
  await fax.pass(1000)
  expect(fax.timeline('contact')).toMatchObject([{ contact: 'unknown', class: 'fax' }])
  expect(fax.report).toBeNull()
  fax.caller.hangUp()
  await fax.pass(300)
  const announcement = await open(ALL)
  await announcement.pass(announcement.says('The number you have dialed is not in service') + 1500)
  expect(announcement.timeline('contact')).toMatchObject([{ contact: 'unknown', class: 'announcement' }])
  expect(announcement.report).toBeNull()
})

it('after detectionTimeoutMs without a verdict the run says that what answered is unknown, and the agent goes on', async () => {
  const harness = await open({ voicemail: { ...VOICEMAIL, detectionTimeoutMs: 1500 } })
  await harness.pass(3000)
  expect(harness.timeline('contact')).toMatchObject([{ contact: 'unknown', detected: 'unknown', class: null }])
  expect(harness.report).toBeNull()
})

it('a call with a person sounds the same with detection as without it', async () => {
  const heard: Int16Array[] = []
  for (const settings of [{}, ALL]) {
    const harness = await open(settings, { answers: [speaks('Fine.'), speaks('Goodbye then.')] })
    await harness.pass(harness.says('Hello') + 3000)
    await harness.pass(harness.says('Yes this is John who is calling') + 3000)
    heard.push(harness.heard())
    if (settings === ALL) expect(classes(harness)).toEqual(['human'])
    harness.caller.hangUp()
    await harness.pass(300)
  }
  expect(heard[1]).toEqual(heard[0])
})

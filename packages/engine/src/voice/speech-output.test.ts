import { type ParleyError, type Samples, VirtualTime } from '@parley/kernel'
import type { SpeechChunk, TextToSpeech } from '@parley/providers'
import { ProviderError } from '@parley/providers/testing'
import { describe, expect, it } from 'vitest'
import { ScriptedLine } from '../testing/scripted-line.ts'
import { Playout } from './playout.ts'
import { SpeechOutput, type SpeechReport } from './speech-output.ts'
import { Voices } from './voices.ts'

/** A voice with 800 samples per word and word times. */
class Voice implements TextToSpeech {
  readonly id = 'test/voice'
  readonly languages = ['en']
  readonly said: string[] = []
  failure: ParleyError | null = null
  stalls = false

  async readiness(): Promise<null> {
    return null
  }

  async *synthesize({ text }: { text: string }, signal: AbortSignal): AsyncIterable<SpeechChunk> {
    this.said.push(text)
    if (this.stalls) await new Promise(resolve => signal.addEventListener('abort', resolve))
    for (const [i, word] of text.split(' ').entries()) {
      if (this.failure !== null) throw this.failure
      if (signal.aborted) return
      yield { samples: new Int16Array(800).fill(1000), words: [{ text: word, startMs: i * 100 }] }
    }
  }

  async close(): Promise<void> {}
}

function fixture() {
  const line = new ScriptedLine()
  const playout = new Playout(line)
  const voice = new Voice()
  const time = new VirtualTime()
  const facts: string[] = []
  const reports: (SpeechReport & { id: string })[] = []
  const voices = new Voices([{ voice, language: 'en', voiceId: null }], line.format, time, () => {})
  const speechOutput = new SpeechOutput(playout, voices, {
    onSpeaking: speaking => facts.push(speaking ? 'speaking' : 'quiet'),
    onSpoken: (id, report) => reports.push({ id, ...report }),
    onAudible: (id, atSample) => facts.push(`${id} audible at ${atSample}`),
    onVoice: () => {},
    onFailure: error => facts.push(error.code),
  })
  const say = async (id: string, text: string) => {
    speechOutput.begin(id)
    speechOutput.say(id, text)
    speechOutput.end(id)
    await settled()
  }
  const leave = async (samples: Samples) => {
    speechOutput.onProgress(line.send(samples))
    await settled()
  }
  return { line, voice, time, speechOutput, facts, reports, say, leave }
}

const settled = () => new Promise(resolve => setImmediate(resolve))

describe('a speech of the agent', () => {
  it('a speech of the agent is reported once it was played to its end, with its times on the call clock', async () => {
    const { line, facts, reports, say, leave } = fixture()
    await say('a', 'One two three.')
    line.wait(8000)
    await leave(160)
    await leave(2240)
    expect(reports).toEqual([
      { id: 'a', heard: 'One two three.', interrupted: false, span: { start_ms: 1000, end_ms: 1300 } },
    ])
    expect(facts).toEqual(['speaking', 'a audible at 8000', 'quiet'])
  })

  it('a speech of the agent begins with its first complete sentence while more text arrives', async () => {
    const { speechOutput, voice, leave, reports } = fixture()
    speechOutput.begin('a')
    speechOutput.say('a', 'Hello the')
    await settled()
    expect(voice.said).toEqual([])
    speechOutput.say('a', 're. How are')
    await settled()
    expect(voice.said).toEqual(['Hello there.'])
    speechOutput.say('a', ' you?')
    speechOutput.end('a')
    await settled()
    expect(voice.said).toEqual(['Hello there.', 'How are you?'])
    await leave(4000)
    expect(reports.map(report => report.heard)).toEqual(['Hello there. How are you?'])
  })

  it('a speech of the agent begins after the end of the one before', async () => {
    const { say, leave, reports, facts } = fixture()
    await say('a', 'One two.')
    await say('b', 'Three.')
    await leave(1600)
    expect(reports.map(({ id }) => id)).toEqual(['a'])
    await leave(800)
    expect(reports.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(facts.filter(fact => fact === 'quiet')).toHaveLength(1)
  })

  it('begins where its first sample was sent, also when the report of the silence before it comes late', async () => {
    const { line, say, leave, speechOutput, facts, reports } = fixture()
    await say('a', 'One.')
    await leave(800)
    const late = line.send(0)
    line.wait(8000)
    await say('b', 'Two.')
    const all = [late, line.send(160), line.send(640)]
    for (const event of all) speechOutput.onProgress(event)
    expect(facts).toContain('b audible at 8800')
    expect(reports.find(({ id }) => id === 'b')?.span).toEqual({ start_ms: 1100, end_ms: 1200 })
  })

  it('that is cut reports only the words that were played to their end', async () => {
    const { say, leave, speechOutput, reports, line } = fixture()
    await say('a', 'One two three four.')
    await say('b', 'Never heard.')
    await leave(1500)
    speechOutput.cut()
    expect(reports).toEqual([
      { id: 'a', heard: 'One', interrupted: true, span: { start_ms: 0, end_ms: 188 } },
      { id: 'b', heard: '', interrupted: true, span: null },
    ])
    const before = line.sent.length
    await leave(8000)
    expect(line.sent).toHaveLength(before)
  })

  it('without text is reported at once', async () => {
    const { say, reports } = fixture()
    await say('a', '  ')
    expect(reports).toEqual([{ id: 'a', heard: '', interrupted: false, span: null }])
  })

  it('that is paused is reported only after it was resumed and played to its end', async () => {
    const { say, leave, speechOutput, reports } = fixture()
    await say('a', 'One two.')
    await leave(800)
    speechOutput.pause()
    await leave(800)
    expect(reports).toEqual([])
    speechOutput.resume()
    await leave(800)
    expect(reports).toMatchObject([{ heard: 'One two.', interrupted: false }])
  })

  it('that is withdrawn before it is heard does not affect the one before', async () => {
    const { speechOutput, say, leave, reports } = fixture()
    await say('a', 'One two.')
    speechOutput.begin('b')
    speechOutput.withdraw('b')
    expect(reports).toMatchObject([{ id: 'b', heard: '', interrupted: true }])
    await leave(1600)
    expect(reports).toMatchObject([{ id: 'b' }, { id: 'a', heard: 'One two.', interrupted: false }])
  })

  it('a speech of the agent reports a failure of its voice once', async () => {
    const { voice, say, facts } = fixture()
    voice.failure = new ProviderError('voice_refused', 'the key was revoked')
    await say('a', 'One.')
    expect(facts).toEqual(['voice_refused'])
  })

  it('a speech of the agent fails after two timeouts of five seconds when its voice delivers nothing', async () => {
    const { voice, time, say, facts } = fixture()
    voice.stalls = true
    await say('a', 'One.')
    time.advance(5000)
    await settled()
    time.advance(4999)
    await settled()
    expect(facts).toEqual([])
    time.advance(1)
    await settled()
    expect(facts).toEqual(['voice_stalled'])
  })

  it('a speech of the agent is synthesised at most half a minute ahead', async () => {
    const { voice, say, leave } = fixture()
    await say('a', Array.from({ length: 200 }, (_, i) => `Number ${i}.`).join(' '))
    const first = voice.said.length
    expect(first).toBeLessThan(160)
    for (let i = 0; i < 100; i++) await leave(1600)
    expect(voice.said.length).toBeGreaterThan(first)
  })
})

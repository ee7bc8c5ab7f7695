import { ParleyError, type Samples } from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import type { SpeechChunk, TextToSpeech } from '@parley/providers'
import { describe, expect, it } from 'vitest'
import { Speaker, type Utterance } from './speaker.ts'

/** Playout of a leg without a clock: what is queued leaves when the test says so. */
class Playout {
  queuedTo: Samples = 0
  playedTo: Samples = 0

  play(audio: Int16Array): Samples {
    this.queuedTo += audio.length
    return this.queuedTo
  }

  flush(): Samples {
    this.queuedTo = this.playedTo
    return this.playedTo
  }

  played(): Samples {
    return this.playedTo
  }
}

/** One chunk per word, 800 samples each. */
class Voice implements TextToSpeech {
  readonly id = 'test/voice'
  readonly languages = ['en']
  failure: ParleyError | null = null

  async readiness(): Promise<null> {
    return null
  }

  async *synthesize({ text }: { text: string }, signal: AbortSignal): AsyncIterable<SpeechChunk> {
    for (const _word of text.split(' ')) {
      if (this.failure !== null) throw this.failure
      if (signal.aborted) return
      yield { samples: new Int16Array(800), words: [] }
    }
  }

  async close(): Promise<void> {}
}

function fixture() {
  const playout = new Playout()
  const voice = new Voice()
  const utterances: Utterance[] = []
  const facts: string[] = []
  const speaker = new Speaker(playout as unknown as CallLeg, voice, 'en', {
    onQuiet: () => facts.push('quiet'),
    onFailure: error => facts.push(error.code),
    onUtterance: utterance => utterances.push(utterance),
  })
  const progress = (position: Samples, atSample: Samples) => {
    playout.playedTo = position
    speaker.onProgress({ type: 'play-progress', position, atSample, idle: position === playout.queuedTo })
  }
  return { playout, voice, speaker, utterances, facts, progress }
}

const settled = () => new Promise(resolve => setImmediate(resolve))

describe('what the agent says', () => {
  it('stands in the transcript with the times at which it was really sent', async () => {
    const { speaker, utterances, facts, progress } = fixture()
    speaker.say('one two three', 'greeting')
    await settled()
    progress(400, 10_400)
    progress(2400, 12_400)
    expect(facts).toEqual(['quiet'])
    expect(utterances).toEqual([
      {
        index: 0,
        role: 'agent',
        text: 'one two three',
        interrupted: false,
        start_ms: 1250,
        end_ms: 1550,
        node_id: 'greeting',
      },
    ])
  })

  it('is marked interrupted, and ends where the caller stopped hearing it', async () => {
    const { speaker, utterances, facts, progress } = fixture()
    speaker.say('one two three', 'greeting')
    await settled()
    progress(800, 8800)
    speaker.stop()
    expect(utterances).toMatchObject([{ interrupted: true, start_ms: 1000, end_ms: 1100 }])
    expect(facts).toEqual([])
  })

  it('leaves no line when none of it was heard', async () => {
    const { speaker, utterances } = fixture()
    speaker.say('one two three', 'greeting')
    await settled()
    speaker.stop()
    expect(utterances).toEqual([])
  })

  it('is replaced, not joined, by the next line', async () => {
    const { speaker, utterances, playout, progress } = fixture()
    speaker.say('one two three four', 'a')
    await settled()
    progress(800, 800)
    speaker.say('five', 'b')
    await settled()
    expect(playout.queuedTo).toBe(1600)
    progress(1600, 1600)
    expect(utterances.map(utterance => [utterance.text, utterance.interrupted])).toEqual([
      ['one two three four', true],
      ['five', false],
    ])
  })

  it('tells a voice that fails, once', async () => {
    const { speaker, voice, facts } = fixture()
    voice.failure = new ParleyError('voice_gone', 'gone')
    speaker.say('one', 'a')
    await settled()
    expect(facts).toEqual(['voice_gone'])
  })
})

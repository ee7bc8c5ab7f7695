import { describe, expect, it } from 'vitest'
import { phoneSpeech } from './phone-speech.ts'

const server = (model: string) => ({
  apiKey: '',
  baseUrl: 'http://127.0.0.1:9/v1',
  models: [model],
  languages: ['en'],
})
const local_stt = server('moonshine-tiny-en')
const local_tts = server('hibari')

async function chosen(vendors: Parameters<typeof phoneSpeech>[0], language: string): Promise<string[]> {
  const { voice, recogniser } = phoneSpeech(vendors, language)
  await Promise.all([voice.close(), recogniser.close()])
  return [voice.id, recogniser.id]
}

describe('the speech of a virtual phone', () => {
  it('the speech of a virtual phone is that of the local servers where both know the language', async () => {
    for (const language of ['en', 'en-GB'])
      expect(await chosen({ local_stt, local_tts }, language)).toEqual([
        'local_tts/hibari',
        'local_stt/moonshine-tiny-en',
      ])
  })

  it('the speech of a virtual phone is the built-in tones where a server is missing or does not know the language', async () => {
    const tones = ['simulated/tones-1', 'simulated/tones-1']
    expect(await chosen({}, 'en')).toEqual(tones)
    expect(await chosen({ local_tts }, 'en')).toEqual(tones)
    expect(await chosen({ local_stt, local_tts }, 'es')).toEqual(tones)
  })
})

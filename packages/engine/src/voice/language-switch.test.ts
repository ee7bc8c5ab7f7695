import { afterEach, describe, expect, it } from 'vitest'
import { AudioHarness, type HarnessOptions, speaks } from '../testing/audio-harness.ts'
import { draftOf } from '../testing/drafts.ts'
import { FingerprintVoice, ScriptedRecogniser } from '../testing/scripted-speech.ts'

let call: AudioHarness | null = null

afterEach(async () => {
  call?.caller.hangUp()
  await call?.pass(200)
  call = null
})

async function open(rest: Partial<HarnessOptions> = {}, language: string | string[] = ['en-US', 'es-MX']) {
  call = await AudioHarness.open({
    draft: draftOf(
      [
        { id: 'ask', type: 'conversation', instruction: { type: 'static_text', text: 'How can I help?' } },
        { id: 'end', type: 'end' },
      ],
      { settings: { language } },
    ),
    answers: [speaks('Claro que sí.'), speaks('Of course.')],
    ...rest,
    agent: { asksAhead: false, ...rest.agent },
  })
  await call.until(() => call!.timeline('utterance').length === 1, 6000, 'the greeting was heard')
  await call.pass(400)
  return call
}

async function answered(on: AudioHarness, text: string) {
  const before = on.timeline('utterance').length
  await on.pass(on.says(text))
  await on.until(() => on.timeline('utterance').length >= before + 2, 8000, 'the agent has answered')
}

describe('a caller who changes the language', () => {
  it('a caller who changes the language is understood and answered in it: recogniser, voice and model follow', async () => {
    const on = await open()
    await answered(on, 'Hola quiero una cita para mañana')
    expect(on.timeline('language')).toMatchObject([{ language: 'es', from: 'en', cause: 'words' }])
    expect(on.recogniser.streamLanguages).toEqual([
      ['en-US', 'es'],
      ['es-MX', 'en'],
    ])
    expect(on.voice.synthesized.map((text, at) => [text, on.voice.spokenIn[at]])).toEqual([
      ['How can I help?', 'en-US'],
      ['Claro que sí.', 'es-MX'],
    ])
    expect(on.requests.at(-1)!.brief).toMatchObject({ language: 'es' })
    expect(on.requests.at(-1)!.messages[0]).toMatchObject({ content: expect.stringContaining('Language: Spanish') })
    expect(on.handler!.variable('current_language')).toBe('es')
  })

  it('a caller who changes the language may change it back', async () => {
    const on = await open()
    await answered(on, 'Hola quiero una cita para mañana')
    await answered(on, 'Sorry can we speak English please')
    expect(on.timeline('language').map(({ language, cause }) => [language, cause])).toEqual([
      ['es', 'words'],
      ['en', 'requested'],
    ])
    expect(on.voice.spokenIn.at(-1)).toBe('en-US')
    expect(on.recogniser.streamLanguages.at(-1)).toEqual(['en-US', 'es'])
  })

  it('a caller who changes the language is followed where the recogniser detects the language, which then is not connected again', async () => {
    const on = await open()
    on.recogniser.detects = 'es'
    await answered(on, 'dolor muelas fuerte')
    expect(on.timeline('language')).toMatchObject([{ language: 'es', cause: 'recogniser' }])
    expect(on.recogniser.streamLanguages).toHaveLength(1)
    expect(on.voice.spokenIn.at(-1)).toBe('es-MX')
  })

  it('a caller who changes the language is answered in the language of the agent where that is its only one', async () => {
    const on = await open({}, 'en')
    await answered(on, 'Hola quiero una cita para mañana')
    expect(on.timeline('language')).toEqual([])
    expect(on.recogniser.streamLanguages).toEqual([['en']])
    expect(on.voice.spokenIn.at(-1)).toBe('en')
  })

  it('a caller who changes the language is answered in the language of the agent where no voice or no recogniser has the other one', async () => {
    class EnglishVoice extends FingerprintVoice {
      override readonly languages = ['en']
    }
    const voice = new EnglishVoice()
    const on = await open({ agent: { voice } })
    await answered(on, 'Hola quiero una cita para mañana')
    expect(on.timeline('language')).toEqual([])
    expect(voice.spokenIn.at(-1)).toBe('en-US')
  })

  it('a caller who changes the language is followed by a fallback recogniser and a fallback voice where only those have the language', async () => {
    class EnglishVoice extends FingerprintVoice {
      override readonly languages = ['en']
    }
    const spanish = new FingerprintVoice()
    const on = await open({
      agent: { voice: new EnglishVoice(), fallbackVoices: [{ voice: spanish, language: 'es', voiceId: null }] },
    })
    await answered(on, 'Hola quiero una cita para mañana')
    expect(spanish.spokenIn).toEqual(['es-MX'])
  })

  it('a caller who changes the language hears holding lines in the new language', async () => {
    const on = await open({ answers: [] })
    await on.pass(on.says('¿Habla español?'))
    await on.until(() => on.timeline('language').length === 1, 4000, 'the language has changed')
    await on.until(
      () =>
        on.voice.synthesized.includes('Lo siento, tengo un problema técnico. ¿Me lo puede repetir?') ||
        on.timeline('utterance').length > 2,
      8000,
      'the agent speaks',
    )
    expect(on.voice.spokenIn.at(-1)).toBe('es-MX')
  })
})

it('an agent of all languages begins with English and tells the recogniser the others', async () => {
  const on = await open({}, 'multi')
  expect(on.recogniser).toBeInstanceOf(ScriptedRecogniser)
  expect(on.recogniser.streamLanguages).toEqual([['en', 'es']])
})

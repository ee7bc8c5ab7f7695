import { expect, it } from 'vitest'
import { Findings } from '../plan/findings.ts'
import { draftEnvironment } from '../testing/draft-environment.ts'
import { checkLanguages } from './check-languages.ts'
import { fromTemplate } from './templates.ts'

const stt = (model: string, languages: string[]) =>
  ({ role: 'stt', provider: 'vendor', model, voice_id: null, languages, ready: true }) as const
const tts = (model: string, voice_id: string, languages: string[]) =>
  ({ role: 'tts', provider: 'vendor', model, voice_id, languages, ready: true }) as const
const voices = [
  stt('english', ['en']),
  stt('both', ['en', 'es']),
  tts('english', 'amy', ['en']),
  tts('both', 'amy', ['en']),
  tts('both', 'ana', ['es']),
]

function found(recogniser: string, voice: string, language: string | string[], fallbackVoiceIds?: string[]): string[] {
  const draft = fromTemplate('blank', {
    name: 'Test',
    language: 'en',
    providers: {
      stt: { provider: 'vendor', model: recogniser },
      tts: { provider: 'vendor', model: voice },
      llm: { provider: 'hosted', model: draftEnvironment.models[0]!.identity },
    },
  })
  const findings = new Findings()
  const settings = { ...draft.settings, language, ...(fallbackVoiceIds && { fallbackVoiceIds }) }
  checkLanguages({ ...draft, settings }, { voices }, findings)
  return findings.sorted().map(({ severity, message }) => `${severity}: ${message}`)
}

it('services that have all languages of the agent have no findings', () => {
  expect(found('both', 'both', ['en', 'es'])).toEqual([])
  expect(found('english', 'english', 'en')).toEqual([])
  expect(found('both', 'english', 'multi', ['vendor/both:ana'])).toEqual([])
})

it('a recogniser without the first language is an error, and another one is offered', () => {
  expect(found('english', 'both', 'es')).toEqual([
    'error: The recogniser "vendor/english" does not understand Spanish: choose one that GET /voices lists for it',
  ])
})

it('services without a further language of the agent are warned of', () => {
  expect(found('english', 'both', 'multi')).toEqual([
    'warning: The recogniser "vendor/english" does not understand Spanish: callers who speak it are answered in English',
  ])
  expect(found('both', 'english', ['en', 'es'])).toEqual([
    'warning: The voice "vendor/english" does not speak Spanish: callers who speak it are answered in English',
  ])
})

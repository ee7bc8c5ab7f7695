import { withDefaults } from '../plan/defaults.ts'
import type { DraftContent } from '../plan/draft.ts'
import type { Findings } from '../plan/findings.ts'
import { type Language, languagesOf } from '../plan/languages.ts'
import { changesTo, firstReady } from './check-voices.ts'
import type { DraftEnvironment } from './draft-environment.ts'

type Voice = DraftEnvironment['voices'][number]

const NAMES: Readonly<Record<Language, string>> = { en: 'English', es: 'Spanish' }

/** Warns of languages of the agent that its services lack, and reports a recogniser without the first of them. */
export function checkLanguages(
  { settings, providers: { stt, tts } }: DraftContent,
  { voices }: Pick<DraftEnvironment, 'voices'>,
  findings: Findings,
): void {
  const languages = languagesOf(withDefaults(settings).language)
  const [first] = languages
  const recognisers = [stt, ...(stt.fallbacks ?? [])].map(service => servicesOf(voices, 'stt', service))
  const model = settings.voiceModel ?? tts.model
  const spoken = servicesOf(voices, 'tts', { ...tts, model })
  for (const language of languages) {
    const isUnderstood = (language === first ? recognisers.slice(0, 1) : recognisers).some(has(language))
    if (!isUnderstood) {
      const what = `The recogniser "${stt.provider}/${stt.model}" does not understand ${NAMES[language]}`
      const other = firstReady(voices, 'stt', settings)
      if (language === first)
        findings.error(
          'language_unsupported',
          ['settings', 'language'],
          `${what}: choose one that GET /voices lists for it`,
          other?.languages.includes(first)
            ? {
                label: `Use "${other.provider}/${other.model}"`,
                edits: [{ type: 'agent.provider', role: 'stt', changes: changesTo(other) }],
              }
            : undefined,
        )
      else
        findings.warning(
          'not_executed',
          ['settings', 'language'],
          `${what}: callers who speak it are answered in ${NAMES[first!]}`,
        )
    }
    if (isUnderstood && !has(language)(spoken) && !hasFallback(settings, voices, language))
      findings.warning(
        'not_executed',
        ['settings', 'language'],
        `The voice "${tts.provider}/${model}" does not speak ${NAMES[language]}: ${language === first ? 'it speaks with the accent of another language' : `callers who speak it are answered in ${NAMES[first!]}`}`,
      )
  }
}

/** True where the service is not listed: another finding says so. */
function has(language: Language): (entries: readonly Voice[]) => boolean {
  return entries => entries.length === 0 || entries.some(({ languages }) => languages.includes(language))
}

function servicesOf(
  voices: readonly Voice[],
  role: Voice['role'],
  { provider, model }: { readonly provider: string; readonly model: string },
): readonly Voice[] {
  return voices.filter(voice => voice.role === role && voice.provider === provider && voice.model === model)
}

function hasFallback(
  { fallbackVoiceIds = [] }: DraftContent['settings'],
  voices: readonly Voice[],
  language: Language,
) {
  return voices.some(
    voice =>
      voice.role === 'tts' &&
      voice.languages.includes(language) &&
      fallbackVoiceIds.some(id => id.split(':')[0] === `${voice.provider}/${voice.model}`),
  )
}

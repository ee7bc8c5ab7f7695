import { KNOWN_WORDS } from '@parley/contract'
import { withDefaults } from './defaults.ts'
import type { DraftContent } from './draft.ts'
import type { Findings } from './findings.ts'
import type { Fix } from './fixes.ts'
import { spokenTags } from './languages.ts'

/** Warns of unknown setting values and reports unsupported languages. */
export function checkSettings({ settings: set }: DraftContent, findings: Findings): void {
  const settings = withDefaults(set)
  for (const name of ['ambientSound', 'denoisingMode', 'sttMode'] as const) {
    const known: readonly string[] = KNOWN_WORDS[name]
    if (!known.includes(settings[name]))
      findings.warning(
        'setting_unknown',
        ['settings', name],
        `"${settings[name]}" is no known value of ${name}, so the default is used: set one of ${known.join(', ')}`,
        { label: 'Use the default', edits: [{ type: 'agent.settings', values: {}, clear: [name] }] },
      )
  }
  const { spoken, others } = spokenTags(settings.language)
  for (const language of others)
    findings.error(
      'language_unsupported',
      ['settings', 'language'],
      `The language "${language}" is not supported: use en, es or multi`,
      spoken.length > 0 ? speak(spoken, `Speak ${spoken.join(', ')} only`) : undefined,
      ...['en', 'es', 'multi'].map(tag => speak(tag, `Speak ${tag}`)),
    )
}

function speak(language: string | string[], label: string): Fix {
  return { label, edits: [{ type: 'agent.settings', values: { language }, clear: [] }] }
}

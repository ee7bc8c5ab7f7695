import { useTexts } from '../../i18n/i18n.tsx'
import { Section } from '../../ui/parts.tsx'
import type { OpenDraft } from '../use-draft.ts'
import { ActionsSection } from './actions-section.tsx'
import { KnowledgeSection } from './knowledge-section.tsx'
import { ModelForm } from './model-form.tsx'
import { RecogniserForm } from './recogniser-form.tsx'
import { TelephonySection } from './telephony-section.tsx'
import { VoiceForm } from './voice-form.tsx'

/** What the agent hears, thinks and speaks with, the numbers that it calls from, its documents and actions. */
export function ServicesTab({ open }: { readonly open: OpenDraft }) {
  const { text } = useTexts()
  const { providers, telephony, knowledge } = open.draft
  return (
    <div className="stack">
      <div className="columns two">
        <Section title={text('latency.stt')}>
          <RecogniserForm key={JSON.stringify(providers.stt)} open={open} />
        </Section>
        <Section title={text('latency.llm')}>
          <ModelForm key={JSON.stringify(providers.llm)} open={open} />
        </Section>
        <Section title={text('latency.tts')}>
          <VoiceForm key={JSON.stringify(providers.tts)} open={open} />
        </Section>
        <TelephonySection key={`telephony ${JSON.stringify(telephony)}`} open={open} />
      </div>
      <KnowledgeSection key={`knowledge ${JSON.stringify(knowledge)}`} open={open} />
      <ActionsSection open={open} />
    </div>
  )
}

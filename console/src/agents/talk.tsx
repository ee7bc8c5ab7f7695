import type { ResultFrom } from '@parley/client'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Fault, Section } from '../ui/parts.tsx'
import { CallView } from './call-view.tsx'
import type { Draft } from './flow-graph.ts'
import { type Partner, useTestVersion } from './use-test-version.ts'
import { useVoiceCall } from './use-voice-call.ts'

interface TalkProps {
  readonly agent: ResultFrom<'agents.get'>
  readonly draft: Draft | null
}

/** A call by the microphone of the browser with the live version, or with the draft, which is published as a test first. */
export function Talk({ agent, draft }: TalkProps) {
  const { text } = useTexts()
  const agentId = agent.ref.id
  const versionOf = useTestVersion(agentId, draft)
  const { start, current, isBusy } = useVoiceCall(agentId)
  const talkTo = (partner: Partner) => start.mutate(() => versionOf(partner))
  return (
    <Section
      title={text('talk.title')}
      actions={
        <div className="page-actions">
          <button type="button" className="button" disabled={isBusy || draft === null} onClick={() => talkTo('draft')}>
            <Icon name="microphone" size={16} />
            {text('talk.withDraft')}
          </button>
          <button
            type="button"
            className="button"
            disabled={isBusy || agent.head === null}
            onClick={() => talkTo('head')}
          >
            <Icon name="microphone" size={16} />
            {text('talk.withHead')}
          </button>
        </div>
      }
    >
      <p className="hint">{text('talk.hint')}</p>
      {start.isPending && <p role="status">{text('talk.connecting')}</p>}
      {start.isError && <Fault error={start.error} />}
      {current !== null && <CallView key={current.runId} {...current} />}
    </Section>
  )
}

import type { ResultFrom } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Fault } from '../ui/parts.tsx'
import { CallView } from './call-view.tsx'
import { useVoiceCall } from './use-voice-call.ts'

interface CallDialogProps {
  readonly agent: ResultFrom<'agents.list'>['agents'][number]
  readonly onClose: () => void
}

/** Calls the live version of the agent as soon as it opens, and names the services that receive what the user says. */
export function CallDialog({ agent, onClose }: CallDialogProps) {
  const { text } = useTexts()
  const { start, current } = useVoiceCall(agent.ref.id)
  const hasStarted = useRef(false)
  useEffect(() => {
    if (hasStarted.current) return
    hasStarted.current = true
    start.mutate(async () => undefined)
  }, [start])
  return (
    <Dialog title={text('call.agent', { agent: agent.name })} onClose={onClose}>
      <div className="form">
        <ListenersNote agent={agent} />
        {start.isPending && <p role="status">{text('talk.connecting')}</p>}
        {start.isError && <Fault error={start.error} />}
        {current !== null && <CallView key={current.runId} {...current} />}
      </div>
    </Dialog>
  )
}

/** Names the recogniser and the model that receive what the user says. */
function ListenersNote({ agent }: Pick<CallDialogProps, 'agent'>) {
  const api = useApi()
  const { text } = useTexts()
  const params = { agent_id: agent.ref.id, version: agent.head!.version }
  const { data } = useQuery({
    queryKey: ['publications.get', params.agent_id, params.version],
    queryFn: ({ signal }) => api.publications.get({ params }, { signal }),
  })
  const providers = data?.draft.providers
  return (
    <p className="hint">
      {text('call.microphone')}
      {providers !== undefined &&
        ` ${text('call.heardBy', { recogniser: providers.stt.provider, model: providers.llm.provider })}`}
      {providers?.stt.provider === 'simulated' && ` ${text('call.builtIn')}`}
    </p>
  )
}

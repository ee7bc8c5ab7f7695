import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { CheckField, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { Badge, Facts, Fault, Loading, PageHead, Section } from '../ui/parts.tsx'
import { useChange } from './use-change.ts'

/** The environments, the display name, how long content is kept, and whether members may listen to live calls. */
export function WorkspacePage() {
  const { text } = useTexts()
  return (
    <>
      <PageHead title={text('nav.workspace')} />
      <div className="stack">
        <Environments />
        <Settings />
      </div>
    </>
  )
}

function Environments() {
  const api = useApi()
  const { text, word, number } = useTexts()
  const environments = useQuery({
    queryKey: ['environments.list'],
    queryFn: ({ signal }) => api.environments.list({}, { signal }),
  })
  if (environments.isPending) return <Loading />
  if (environments.isError) return <Fault error={environments.error} />
  return (
    <div className="columns">
      {environments.data.items.map(item => (
        <Section
          key={item.tenant_id}
          title={word('environment', item.environment)}
          actions={
            <Badge tone={item.admission_enabled ? 'good' : 'warn'}>
              {text(item.admission_enabled ? 'workspace.admits' : 'workspace.admitsNot')}
            </Badge>
          }
        >
          <Facts
            rows={[
              [text('agents.name'), item.display_name ?? item.name],
              [text('workspace.capacity'), item.concurrent_capacity === null ? '–' : number(item.concurrent_capacity)],
              [
                text('workspace.tenant'),
                <span key="id" className="code">
                  {item.tenant_id}
                </span>,
              ],
            ]}
          />
        </Section>
      ))}
    </div>
  )
}

function Settings() {
  const api = useApi()
  const { text } = useTexts()
  const settings = useQuery({
    queryKey: ['tenant_settings.get'],
    queryFn: ({ signal }) => api.tenantSettings.get({}, { signal }),
  })
  const version = settings.data?.retention.version ?? 0
  const change = useChange(['tenant_settings.get'], (form: FormData) => {
    const name = String(form.get('name')).trim()
    const documents = String(form.get('documents')).trim()
    return api.tenantSettings.update({
      body: {
        display_name: name === '' ? null : name,
        listening_enabled: form.get('listening') === 'on',
        retention: {
          recording_days: Number(form.get('recordings')),
          transcript_days: Number(form.get('transcripts')),
          document_days: documents === '' ? null : Number(documents),
          expected_version: version,
        },
      },
    })
  })
  if (settings.isPending) return <Loading />
  if (settings.isError) return <Fault error={settings.error} />
  const { retention, display_name, listening_enabled } = settings.data
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    change.mutate(new FormData(event.currentTarget))
  }
  const days = { type: 'number', min: 1, max: 3650 } as const
  return (
    <Section title={text('workspace.settings')}>
      <form className="form narrow" onSubmit={submit} key={version}>
        <TextField
          label={text('workspace.displayName')}
          name="name"
          maxLength={128}
          defaultValue={display_name ?? ''}
        />
        <TextField
          label={text('workspace.recordingDays')}
          name="recordings"
          required
          {...days}
          defaultValue={retention.recording_days}
        />
        <TextField
          label={text('workspace.transcriptDays')}
          name="transcripts"
          required
          {...days}
          defaultValue={retention.transcript_days}
        />
        <TextField
          label={text('workspace.documentDays')}
          name="documents"
          {...days}
          placeholder={text('workspace.forEver')}
          defaultValue={retention.document_days ?? ''}
        />
        <CheckField label={text('workspace.listening')} name="listening" defaultChecked={listening_enabled} />
        <FormActions isPending={change.isPending} error={change.error} />
      </form>
    </Section>
  )
}

import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { TextField } from '../ui/fields.tsx'
import { Badge, Fault, Section } from '../ui/parts.tsx'
import { useChange } from './use-change.ts'

/** Where alerts go: the webhook of a chat, and the routing key of a paging service. */
export function AlertDestinations() {
  const api = useApi()
  const { text, word } = useTexts()
  const destinations = useQuery({
    queryKey: ['alert_destinations.get'],
    queryFn: ({ signal }) => api.alertDestinations.get({}, { signal }),
  })
  const shown = destinations.data?.destinations
  const change = useChange(
    ['alert_destinations.get'],
    async ({ kind, value }: { kind: 'chat' | 'paging'; value: string | null }) => {
      const expected_revision = shown?.[kind].revision ?? null
      await api.alertDestinations.update({
        body:
          kind === 'chat'
            ? { chat: { expected_revision, webhook_url: value } }
            : { paging: { expected_revision, routing_key: value } },
      })
    },
  )
  const submit = (kind: 'chat' | 'paging') => (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const value = String(new FormData(event.currentTarget).get('value')).trim()
    change.mutate({ kind, value: value === '' ? null : value })
    event.currentTarget.reset()
  }
  return (
    <Section title={text('alerts.destinations')}>
      {destinations.isError && <Fault error={destinations.error} />}
      {shown !== undefined &&
        (['chat', 'paging'] as const).map(kind => (
          <form key={kind} className="inline-form" onSubmit={submit(kind)}>
            <TextField
              label={text(kind === 'chat' ? 'alerts.chatUrl' : 'alerts.routingKey')}
              name="value"
              type={kind === 'chat' ? 'url' : 'password'}
              placeholder={shown[kind].configured ? text('alerts.emptyClears') : ''}
            />
            <button
              type="submit"
              className="button"
              disabled={change.isPending}
              aria-label={`${text('action.save')}: ${word('alertKind', kind)}`}
            >
              {text('action.save')}
            </button>
            <Badge tone={shown[kind].configured ? 'good' : 'neutral'}>
              {text(shown[kind].configured ? 'alerts.configured' : 'alerts.notConfigured')}
            </Badge>
          </form>
        ))}
      {change.isError && <Fault error={change.error} />}
    </Section>
  )
}

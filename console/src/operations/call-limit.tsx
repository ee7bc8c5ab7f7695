import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { TextField } from '../ui/fields.tsx'
import { Facts, Fault, Section } from '../ui/parts.tsx'
import { useChange } from './use-change.ts'

/** The daily limit of outbound calls. */
export function CallLimit() {
  const api = useApi()
  const { text, number } = useTexts()
  const limit = useQuery({
    queryKey: ['call_limits.get'],
    queryFn: ({ signal }) => api.callLimits.get({}, { signal }),
  })
  const change = useChange(['call_limits.get'], (daily_limit: number | null) =>
    api.callLimits.update({ body: { daily_limit } }),
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = String(new FormData(event.currentTarget).get('limit')).trim()
    change.mutate(given === '' ? null : Number(given))
  }
  return (
    <Section title={text('limit.title')}>
      {limit.isError && <Fault error={limit.error} />}
      {limit.data !== undefined && (
        <>
          <Facts
            rows={[
              [text('limit.calls'), number(limit.data.calls_last_24h)],
              [
                text('limit.remaining'),
                limit.data.remaining === null ? text('limit.none') : number(limit.data.remaining),
              ],
            ]}
          />
          <form className="inline-form" onSubmit={submit} key={limit.data.daily_limit}>
            <TextField
              label={text('limit.daily')}
              name="limit"
              type="number"
              min={0}
              max={1_000_000}
              placeholder={text('limit.none')}
              defaultValue={limit.data.daily_limit ?? ''}
            />
            <button type="submit" className="button" disabled={change.isPending}>
              {text('action.save')}
            </button>
          </form>
          {change.isError && <Fault error={change.error} />}
        </>
      )}
    </Section>
  )
}

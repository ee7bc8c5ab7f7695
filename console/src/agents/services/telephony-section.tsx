import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useApi } from '../../api/api.tsx'
import { useTexts } from '../../i18n/i18n.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Fault, Section } from '../../ui/parts.tsx'
import type { OpenDraft } from '../use-draft.ts'
import { withCurrent } from './choices.ts'

/** The trunk of outbound calls, and the number that they show. */
export function TelephonySection({ open }: { readonly open: OpenDraft }) {
  const api = useApi()
  const { text } = useTexts()
  const { telephony } = open.draft
  const [trunkId, setTrunk] = useState(telephony?.trunkId ?? '')
  const [from, setFrom] = useState(telephony?.from ?? '')
  const trunks = useQuery({
    queryKey: ['trunks.list', 'names'],
    queryFn: ({ signal }) => api.trunks.list({ query: { limit: 200 } }, { signal }),
  })
  const numbers = useQuery({
    queryKey: ['numbers.list', 'names'],
    queryFn: ({ signal }) => api.numbers.list({ query: { limit: 200 } }, { signal }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const value = trunkId === '' ? null : { trunkId, ...(from !== '' && { from }) }
    open.edit([{ type: 'agent.telephony', value }])
  }
  const ofTrunk = numbers.data?.items.filter(({ trunk_id }) => trunk_id === trunkId) ?? []
  return (
    <Section title={text('settings.telephony')}>
      <form className="form" onSubmit={submit}>
        <SelectField
          label={text('trunk.trunk')}
          value={trunkId}
          onChange={event => {
            setTrunk(event.target.value)
            setFrom('')
          }}
          choices={withCurrent(
            [['', '–'], ...(trunks.data?.items.map(({ trunk_id, name }) => [trunk_id, name] as const) ?? [])],
            trunkId,
          )}
        />
        {trunkId !== '' && (
          <SelectField
            label={text('services.callerNumber')}
            value={from}
            onChange={event => setFrom(event.target.value)}
            choices={withCurrent(
              [['', '–'], ...ofTrunk.map(({ phone_number, name }) => [phone_number, name ?? phone_number] as const)],
              from,
            )}
          />
        )}
        {trunks.isError && <Fault error={trunks.error} />}
        {numbers.isError && <Fault error={numbers.error} />}
        <FormActions isPending={open.isSaving} />
      </form>
    </Section>
  )
}

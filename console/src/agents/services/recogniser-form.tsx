import type { FormEvent } from 'react'
import { useTexts } from '../../i18n/i18n.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Fault, Loading } from '../../ui/parts.tsx'
import type { OpenDraft } from '../use-draft.ts'
import { serviceChanges, serviceId, servicesOf, withCurrent } from './choices.ts'
import { useVoices } from './use-catalogue.ts'

/** The speech recogniser of the agent. */
export function RecogniserForm({ open }: { readonly open: OpenDraft }) {
  const { text } = useTexts()
  const { stt } = open.draft.providers
  const found = useVoices('stt')
  if (found.isPending) return <Loading />
  if (found.isError) return <Fault error={found.error} />
  const services = servicesOf(found.data)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const chosen = services.find(one => serviceId(one) === new FormData(event.currentTarget).get('service'))
    if (chosen === undefined || serviceId(chosen) === serviceId(stt)) return
    const { provider, model } = chosen
    const changes = { provider, model, ...serviceChanges(stt, provider) }
    open.edit([{ type: 'agent.provider', role: 'stt', changes }])
  }
  return (
    <form className="form" onSubmit={submit}>
      <SelectField
        label={text('providerKey.service')}
        name="service"
        defaultValue={serviceId(stt)}
        choices={withCurrent(
          services.map(one => [
            serviceId(one),
            one.ready ? serviceId(one) : `${serviceId(one)} (${text('services.notReady')})`,
          ]),
          serviceId(stt),
        )}
      />
      <FormActions isPending={open.isSaving} />
    </form>
  )
}

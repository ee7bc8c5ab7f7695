import type { ResultFrom } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useApi } from '../../api/api.tsx'
import { useTexts } from '../../i18n/i18n.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Fault, Loading } from '../../ui/parts.tsx'
import type { OpenDraft } from '../use-draft.ts'
import { modelId, serviceChanges, withCurrent } from './choices.ts'

type Model = ResultFrom<'models.list'>['items'][number]

/** The language model of the agent, or a model that hears and speaks itself. */
export function ModelForm({ open }: { readonly open: OpenDraft }) {
  const api = useApi()
  const { text } = useTexts()
  const { llm } = open.draft.providers
  const found = useQuery({
    queryKey: ['models.list', 'conversation'],
    queryFn: async ({ signal }) => {
      const items: Model[] = []
      for await (const item of api.models.list.all({ query: { limit: 200 } }, { signal }))
        if (item.kind !== 'embedding') items.push(item)
      return items
    },
  })
  if (found.isPending) return <Loading />
  if (found.isError) return <Fault error={found.error} />
  const models = found.data
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const chosen = models.find(({ model }) => modelId(model) === new FormData(event.currentTarget).get('model'))
    if (chosen === undefined || modelId(chosen.model) === modelId(llm.model)) return
    const before = { ...llm, provider: llm.model.provider }
    const { model, provider } = chosen
    const changes = { model, provider, ...serviceChanges(before, model.provider) }
    open.edit([{ type: 'agent.provider', role: 'llm', changes }])
  }
  const nameOf = ({ model, name, kind, ready }: Model) =>
    [name === '' ? model.model_id : name, model.provider, kind === 'realtime' ? text('services.realtime') : '']
      .filter(Boolean)
      .join(' · ') + (ready ? '' : ` (${text('services.notReady')})`)
  return (
    <form className="form" onSubmit={submit}>
      <SelectField
        label={text('services.model')}
        name="model"
        defaultValue={modelId(llm.model)}
        choices={withCurrent(
          models.map(one => [modelId(one.model), nameOf(one)]),
          modelId(llm.model),
        )}
      />
      <FormActions isPending={open.isSaving} />
    </form>
  )
}

import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { useChange } from '../operations/use-change.ts'
import { navigate } from '../router.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { Fault } from '../ui/parts.tsx'

/** Creates an empty suite and opens its page. */
export function NewSuite({ onClose }: { readonly onClose: () => void }) {
  const api = useApi()
  const { text } = useTexts()
  const agents = useQuery({
    queryKey: ['agents.list', 'names'],
    queryFn: ({ signal }) => api.agents.list({ query: { limit: 200, sort: 'name_asc' } }, { signal }),
  })
  const create = useChange(['test_suites.list'], (form: FormData) => {
    const agentId = String(form.get('agent'))
    return api.testSuites.create({
      body: { name: String(form.get('name')).trim(), ...(agentId !== '' && { agent_id: agentId }) },
    })
  })
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await create.mutateAsync(new FormData(event.currentTarget)).then(
      ({ suite_id }) => navigate({ page: 'suite', suiteId: suite_id }),
      () => {},
    )
  }
  return (
    <Dialog title={text('suite.new')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField label={text('agents.name')} name="name" required pattern=".*\S.*" maxLength={200} />
        <SelectField
          label={text('run.agent')}
          name="agent"
          choices={[['', '–'], ...(agents.data?.agents.map(({ ref, name }) => [ref.id, name] as const) ?? [])]}
        />
        {agents.isError && <Fault error={agents.error} />}
        <FormActions label={text('agents.create')} isPending={create.isPending} error={create.error} />
      </form>
    </Dialog>
  )
}

import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { useChange } from './use-change.ts'

/** Imports a number that a trunk carries. */
export function NewNumber() {
  const { text } = useTexts()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button small" onClick={() => setOpen(true)}>
        <Icon name="plus" size={16} />
        {text('number.import')}
      </button>
      {isOpen && <NumberForm onClose={() => setOpen(false)} />}
    </>
  )
}

function NumberForm({ onClose }: { readonly onClose: () => void }) {
  const api = useApi()
  const { text } = useTexts()
  const trunks = useQuery({
    queryKey: ['trunks.list', 'names'],
    queryFn: ({ signal }) => api.trunks.list({ query: { limit: 200 } }, { signal }),
  })
  const add = useChange(['numbers.list'], (form: FormData) => {
    const name = String(form.get('name')).trim()
    const phone_number = String(form.get('number')).replace(/[\s()-]/g, '')
    return api.numbers.import({
      body: { phone_number, trunk_id: String(form.get('trunk')), ...(name !== '' && { name }) },
    })
  })
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await add.mutateAsync(new FormData(event.currentTarget)).then(onClose, () => {})
  }
  return (
    <Dialog title={text('number.import')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField label={text('number.number')} name="number" required placeholder="+12025550100" inputMode="tel" />
        <SelectField
          label={text('trunk.trunk')}
          name="trunk"
          required
          choices={trunks.data?.items.map(({ trunk_id, name }) => [trunk_id, name] as const) ?? []}
        />
        <TextField label={text('agents.name')} name="name" maxLength={256} />
        <FormActions label={text('number.import')} isPending={add.isPending} error={add.error} />
      </form>
    </Dialog>
  )
}

import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { useChange } from './use-change.ts'

const KINDS = ['generic_sip', 'carrier_elastic_sip'] as const

/** Connects a SIP trunk. */
export function NewTrunk() {
  const { text } = useTexts()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button small" onClick={() => setOpen(true)}>
        <Icon name="plus" size={16} />
        {text('trunk.new')}
      </button>
      {isOpen && <TrunkForm onClose={() => setOpen(false)} />}
    </>
  )
}

/** Stores the password as a secret with the name of the trunk, and creates the trunk with that version of it. */
function TrunkForm({ onClose }: { readonly onClose: () => void }) {
  const api = useApi()
  const { text, word } = useTexts()
  const [id, setId] = useState('')
  const create = useChange(['trunks.list'], async (form: FormData) => {
    const field = (name: string) => String(form.get(name)).trim()
    const secret_id = secretOf(id)
    const secret = await api.secrets.put({
      params: { secret_id },
      body: { kind: 'sip_auth', value: String(form.get('password')) },
    })
    return api.trunks.create({
      body: {
        trunk_id: id,
        name: field('name'),
        provider: KINDS.find(kind => kind === form.get('kind')) ?? 'generic_sip',
        termination_uri: field('address').toLowerCase(),
        auth_username: field('username'),
        auth_secret: { id: secret_id, version: secret.version },
        inbound: form.get('inbound') !== null,
      },
    })
  })
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await create.mutateAsync(new FormData(event.currentTarget)).then(onClose, () => {})
  }
  return (
    <Dialog title={text('trunk.new')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField
          label={text('trunk.id')}
          required
          maxLength={64}
          value={id}
          onChange={event => setId(event.target.value.trim())}
        />
        <TextField label={text('agents.name')} name="name" required maxLength={256} />
        <SelectField
          label={text('trunk.kind')}
          name="kind"
          choices={KINDS.map(kind => [kind, word('trunkKind', kind)] as const)}
        />
        <TextField
          label={text('trunk.address')}
          name="address"
          required
          maxLength={253}
          placeholder="sip.example.com"
          autoCapitalize="none"
        />
        <TextField label={text('trunk.username')} name="username" required maxLength={256} />
        <TextField
          label={text('trunk.password')}
          name="password"
          type="password"
          required
          maxLength={16_384}
          {...(id !== '' && { hint: text('trunk.secretHint', { id: secretOf(id) }) })}
        />
        <CheckField label={text('trunk.mayInbound')} name="inbound" />
        <FormActions label={text('trunk.new')} isPending={create.isPending} error={create.error} />
      </form>
    </Dialog>
  )
}

/** The id of the secret that holds the password of a trunk. */
function secretOf(trunkId: string): string {
  return `${trunkId}-sip`
}

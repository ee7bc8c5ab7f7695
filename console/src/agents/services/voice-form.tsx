import { type FormEvent, useState } from 'react'
import { useTexts } from '../../i18n/i18n.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Fault, Loading } from '../../ui/parts.tsx'
import type { OpenDraft } from '../use-draft.ts'
import { serviceChanges, serviceId, servicesOf, type Voice, withCurrent } from './choices.ts'
import { useVoices } from './use-catalogue.ts'
import { VoicePreview } from './voice-preview.tsx'

/** The voice of the agent, which can be heard before it is chosen. */
export function VoiceForm({ open }: { readonly open: OpenDraft }) {
  const { text } = useTexts()
  const { tts } = open.draft.providers
  const found = useVoices('tts')
  const [service, setService] = useState(serviceId(tts))
  const [voiceId, setVoice] = useState(tts.voiceId ?? '')
  if (found.isPending) return <Loading />
  if (found.isError) return <Fault error={found.error} />
  const services = servicesOf(found.data)
  const isOf = (id: string) => (voice: Voice) => serviceId(voice) === id
  const voices = found.data.filter(isOf(service))
  const chosen = voices.find(({ voice_id }) => voice_id === voiceId)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (chosen?.voice_id == null) return
    const { provider, model, voice_id } = chosen
    const changes = { provider, model, voiceId: voice_id, ...serviceChanges(tts, provider) }
    open.edit([{ type: 'agent.provider', role: 'tts', changes }])
  }
  return (
    <form className="form" onSubmit={submit}>
      <SelectField
        label={text('providerKey.service')}
        value={service}
        onChange={event => {
          setService(event.target.value)
          setVoice(found.data.find(isOf(event.target.value))?.voice_id ?? '')
        }}
        choices={withCurrent(
          services.map(one => [
            serviceId(one),
            one.ready ? serviceId(one) : `${serviceId(one)} (${text('services.notReady')})`,
          ]),
          serviceId(tts),
        )}
      />
      <SelectField
        label={text('latency.tts')}
        value={voiceId}
        onChange={event => setVoice(event.target.value)}
        choices={withCurrent(
          voices.map(voice => [voice.voice_id ?? '', voiceName(voice)]),
          voiceId,
        )}
      />
      {chosen !== undefined && <VoicePreview key={`${service} ${voiceId}`} voice={chosen} />}
      <FormActions isPending={open.isSaving} />
    </form>
  )
}

function voiceName({ name, voice_id, languages }: Voice): string {
  return `${name === '' ? voice_id : name} · ${languages.join(', ')}`
}

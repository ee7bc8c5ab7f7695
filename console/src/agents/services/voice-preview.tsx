import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useApi } from '../../api/api.tsx'
import { useTexts } from '../../i18n/i18n.tsx'
import { Icon } from '../../shell/icon.tsx'
import { Fault } from '../../ui/parts.tsx'
import type { Voice } from './choices.ts'

/** Speaks a fixed line with a voice, as callers would hear it. */
export function VoicePreview({ voice }: { readonly voice: Voice }) {
  const api = useApi()
  const { text, language, word } = useTexts()
  const [source, setSource] = useState<string | null>(null)
  const spoken = voice.languages.some(one => one.startsWith(language)) ? language : language === 'en' ? 'es' : 'en'
  const preview = useMutation({
    mutationFn: () =>
      api.voices.preview({
        body: { voice_id: voice.voice_id!, model: voice.model, language: spoken, speed: 1, expressiveness: 1 },
      }),
    onSuccess: ({ audio_base64, media_type }) => {
      const bytes = Uint8Array.from(atob(audio_base64), letter => letter.charCodeAt(0))
      setSource(URL.createObjectURL(new Blob([bytes], { type: media_type })))
    },
  })
  useEffect(() => {
    if (source === null) return undefined
    return () => URL.revokeObjectURL(source)
  }, [source])
  return (
    <div className="stack">
      <div>
        <button type="button" className="button" disabled={preview.isPending} onClick={() => preview.mutate()}>
          <Icon name="play" />
          {text('services.preview', { language: word('language', spoken) })}
        </button>
      </div>
      {source !== null && (
        // biome-ignore lint/a11y/useMediaCaption: the line that is spoken stands below
        <audio controls autoPlay src={source} />
      )}
      {preview.data !== undefined && <p className="hint">{preview.data.text}</p>}
      {preview.isError && <Fault error={preview.error} />}
    </div>
  )
}

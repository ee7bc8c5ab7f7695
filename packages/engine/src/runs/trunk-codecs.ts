import { type CodecName, isCodecName } from '@parley/media'
import type { TrunkDetails } from '@parley/store'

/** The codecs that staff allowed on a trunk, in their order; undefined: the default. Names that this build lacks are left out. */
export function trunkCodecs({ codecs }: TrunkDetails): readonly CodecName[] | undefined {
  const known = codecs?.filter(isCodecName) ?? []
  return known.length === 0 ? undefined : known
}

// `npm run prebuild-addon`: builds the binaries of media/prebuilt of the sources as they are. To be run after each change of
// media/native; needs g++-aarch64-linux-gnu beside g++ on a Linux of x64.
import { writePrebuilt } from './native-addon.mjs'

writePrebuilt()

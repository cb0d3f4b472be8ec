/** The one door to runtime/: the wire, and where the child's files are. */
export {
  type ChildMessage,
  encodeFrame,
  FrameReader,
  type GuestItem,
  type GuestStart,
  type HostMessage,
  ProtocolViolation,
  readChildMessage,
  readGuestItems,
} from '../../runtime/protocol.ts'

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.sandbox.guest.frames import HEADER, FrameError, Parser, pack, pack_credit, unpack_credit

frames = st.lists(
    st.tuples(st.integers(0, 255), st.integers(0, 2**32 - 1), st.binary(max_size=100), st.integers(0, 255)), max_size=20
)


@given(frames, st.integers(1, 50))
def test_frames_are_found_however_they_are_cut(said, size):
    stream = b"".join(pack(kind, channel, payload, number) for kind, channel, payload, number in said)
    parser = Parser(100)
    found = [frame for at in range(0, len(stream), size) for frame in parser.feed(stream[at : at + size])]
    assert [(frame.kind, frame.channel, frame.payload, frame.stream) for frame in found] == said


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_any_bytes_are_frames_or_an_error_and_never_kept_beyond_one_frame(pieces):
    parser = Parser(64)
    try:
        for piece in pieces:
            for frame in parser.feed(piece):
                assert len(frame.payload) <= 64
            assert len(parser._buffer) < 64 + HEADER.size
    except FrameError:
        pass


def test_a_frame_longer_than_allowed_is_refused_before_it_comes():
    with pytest.raises(FrameError, match="too long"):
        Parser(10).feed(HEADER.pack(11, 1, 0, 0))


def test_a_credit_says_what_it_gives():
    frame = Parser(10).feed(pack_credit(7, 123_456))[0]
    assert (frame.channel, unpack_credit(frame.payload)) == (7, 123_456)

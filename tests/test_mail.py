"""Mail as texts: what a reader sees is found, and hostile messages are read in bounded work."""

import mailbox
from email import message_from_bytes
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.errors import DataError
from deciban.mail import html as hypertext
from deciban.mail import message as mail
from deciban.mail.message import decode_header, decode_text, header_param

from .support.strategies import examples


def message(text="Lunch at noon?", subject="Hello", **more) -> EmailMessage:
    out = EmailMessage()
    out["From"], out["To"], out["Subject"] = "Ann Smith <Ann@Shop.Example>", "bob@b.example", subject
    out["Message-ID"] = more.pop("id", "<1@shop.example>")
    out.set_content(text, **more)
    return out


def rich() -> EmailMessage:
    """Text, HTML and an attachment."""
    out = message("Plain Grüße, see https://plain.example/x", "Größter Preis")
    out.add_alternative('<p>Rich €5 <a href="http://link.example:80/a?b">go</a>', subtype="html", charset="utf-8")
    out.add_attachment(b"MZ\x00", maintype="application", subtype="octet-stream", filename="Prize.EXE")
    return out


# what is found


def test_text_html_links_and_attachments_of_a_message():
    found = mail.parse(rich().as_bytes())
    assert found.subject == "Größter Preis"
    assert found.sender == "Ann@Shop.Example"
    assert "Plain Grüße" in found.body
    assert "Rich €5 go" in found.body
    assert "<" not in found.body
    assert found.attachments == ("Prize.EXE",)
    expected = {
        "subject:größter",
        "from:ann@shop.example",
        "from:shop.example",
        "host:plain.example",
        "host:link.example",
        "attachment:prize.exe",
        "attachment:exe",
        "type:text/html",
    }
    assert expected <= set(found.marks)
    assert expected <= set(found.tokens())
    assert "grüße" in found.tokens()
    words = found.text().split()
    assert {"subject_größter", "from_shop_example", "host_link_example", "attachment_exe"} <= set(words)


def test_bytes_text_and_message_say_the_same():
    for source in (rich(), message(), message("Käse", cte="8bit"), message("Käse " * 50, cte="base64")):
        raw = source.as_bytes()
        first = mail.parse(raw)
        assert mail.parse(source) == first
        assert mail.parse(message_from_bytes(raw)) == first
        assert mail.parse(raw.decode("utf-8", "surrogateescape")) == first
        assert mail.parse(raw.replace(b"\n", b"\r\n")).tokens() == first.tokens()


def test_a_message_within_a_message():
    outer = MIMEMultipart()
    outer["Subject"] = "Fwd"
    outer.attach(MIMEText("see below"))
    outer.attach(mail_as_part(rich()))
    assert {"see", "rich", "plain", "host:link.example"} <= set(mail.parse(outer.as_bytes()).tokens())
    assert mail.parse(outer).tokens() == mail.parse(outer.as_bytes()).tokens()


def mail_as_part(inner):
    from email.mime.message import MIMEMessage

    return MIMEMessage(inner)


def test_a_text_that_is_no_mail_is_a_body():
    assert mail.parse(b"WINNER!! You have been chosen\nto claim").body == "WINNER!! You have been chosen\nto claim"
    assert mail.parse(b"").tokens() == ["type:text/plain"]
    assert mail.parse(b"\n\nonly a body").body.strip() == "only a body"
    assert mail.parse(b"Subject: only a head").subject == "only a head"


def test_messages_are_told_apart_and_known_again():
    keys = [mail.parse(one).key for one in (message(), message(id="<2@x>"), message("Dinner?"), message(subject="Re"))]
    assert len(set(keys)) == 4
    assert mail.parse(message()).key == keys[0]
    assert all(len(key) == 32 for key in keys)


# where mail lies


def test_boxes_folders_and_files(tmp_path):
    several = [message(f"body {i}\n\nFrom here on\nIt goes on", f"subject {i}", id=f"<{i}>") for i in range(5)]
    expected = [mail.parse(one).tokens() for one in several]
    box, folder, files = mailbox.mbox(tmp_path / "box"), mailbox.Maildir(tmp_path / "dir"), tmp_path / "files" / "sub"
    files.mkdir(parents=True)
    for i, one in enumerate(several):
        box.add(one)
        folder.add(one)
        (files / f"{i}.eml").write_bytes(one.as_bytes())
    box.close()
    (files / ".hidden").write_bytes(b"Subject: no")
    assert [found.tokens() for found in mail.read(tmp_path / "box")] == expected
    assert sorted(found.tokens() for found in mail.read(str(tmp_path / "dir"))) == sorted(expected)
    assert [found.tokens() for found in mail.read(tmp_path / "files")] == expected
    assert [found.tokens() for found in mail.read(files / "3.eml")] == expected[3:4]
    assert [found.tokens() for found in mail.read([files / "0.eml", several[1], several[2].as_bytes()])] == expected[:3]
    assert mail.read_texts(tmp_path / "box") == [mail.parse(one).text() for one in several]


def test_a_long_box_is_cut_message_by_message(tmp_path, monkeypatch):
    monkeypatch.setattr(mail, "MOST_BYTES", 2000)
    path = tmp_path / "box"
    path.write_bytes(
        b"From " + b"x" * 200_000 + b"\nSubject: a\n\n" + b"word " * 100_000 + b"\n\nFrom y\nSubject: b\n\nend\n"
    )
    first, second = mail.read(path)
    assert (first.subject, second.subject, second.body.strip()) == ("a", "b", "end")
    assert len(first.body) < 70_000


def test_what_is_no_source_is_refused_with_a_cure(tmp_path):
    for source, what in (
        (tmp_path / "none", "file or folder not found"),
        (3, "a int is not a source"),
        ([b"", None], "NoneType"),
    ):
        with pytest.raises(DataError, match=f"(?s){what}.*hint: "):
            list(mail.read(source))
    assert list(mail.read(tmp_path)) == []


# broken and hostile


@pytest.mark.parametrize(
    "charset",
    [
        "no-such-set",
        "utf-8",
        "us-ascii",
        "",
        "zlib",
        "rot13",
        "base64",
        "punycode",
        "idna",
        "a\0b",
        "x" * 500,
        "unicode_escape",
    ],
)
def test_wrong_character_sets_survive(charset):
    for raw in ("Grüße".encode(), "Grüße".encode("cp1252")):
        assert decode_text(raw, charset) == "Grüße"
    body = f"Content-Type: text/plain; charset={charset}\n\nGrüße".encode("latin-1")
    assert mail.parse(body).body


def test_right_character_sets_are_believed():
    for charset in ("koi8-r", "cp1251", "utf-16", "iso-2022-jp", "gb18030", "utf-7"):
        text = "Привет" if charset[0] in "kc" else "メール"
        assert decode_text(text.encode(charset), charset) == text
    assert decode_text(b"\xd8\x00", "utf-16-be") == "\ufffd"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("=?utf-8?B?R3LDvMOfZQ==?=", "Grüße"),
        ("=?utf-8?b?R3LDvMOfZQ?=", "Grüße"),
        ("=?utf-8?b?R?= x", " x"),
        ("=?utf-8?q?Gr=C3=BC=C3=9Fe_an?= =?utf-8?q?_alle?=", "Grüße an alle"),
        ("=?nope?q?caf=E9?=", "café"),
        ("=?utf-8?q?=ZZ?=", "=ZZ"),
        ("=?utf-8?x?a?=", "=?utf-8?x?a?="),
        ("caf\udce9", "café"),
    ],
)
def test_encoded_words(value, expected):
    assert decode_header(value) == expected


def test_broken_encodings_give_what_can_be_read():
    head = b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: "
    assert mail.parse(head + b"base64\n\nSGVsbG8h*()IHRoZXJl Zg").body == "Hello! theref"
    assert mail.parse(head + b"quoted-printable\n\nHello=20there =ZZ =").body.startswith("Hello there")
    assert mail.parse(head + b"x-unknown\n\nHello").body == "Hello"
    assert mail.parse(b"Content-Type: multipart/mixed\n\nno boundary").body == "no boundary"
    open_end = b'Content-Type: multipart/mixed; boundary="b"\n\npreamble\n--b\n\nfirst\n--bb\n--b\n\nsecond'
    assert mail.parse(open_end).body.split() == ["first", "--bb", "second"]
    assert header_param("text/plain; charset='x", "charset") == "'x"


def nested(depth: int) -> bytes:
    out = b"Content-Type: text/plain\n\nbottom"
    for i in range(depth):
        mark = b"b%d" % i
        out = (
            b"Content-Type: multipart/mixed; boundary=" + mark + b"\n\n--" + mark + b"\n" + out + b"\n--" + mark + b"--"
        )
    return out


HOSTILE = {
    "nested": lambda: nested(5000),
    "many parts": lambda: b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 300_000,
    "one part": lambda: b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n" + b"PGEg" * 3_000_000,
    "quoted": lambda: b"Content-Transfer-Encoding: quoted-printable\n\n" + b"=" * 3_000_000,
    "headers": lambda: b"X: y\n" * 500_000,
    "one header": lambda: b"Subject: " + b"=?utf-8?q?" * 300_000,
    "parameters": lambda: b"Content-Type: multipart/mixed" + b'; boundary="' * 300_000 + b"\n\nx",
    "addresses": lambda: b"From: " + b"(a@" * 300_000 + b"\n\nx",
    "folds": lambda: b"Subject: a\n" + b" \n" * 500_000,
    "tags": lambda: b"Content-Type: text/html\n\n" + b"<a " * 300_000,
    "quotes": lambda: b"Content-Type: text/html\n\n" + b"<a x='" * 200_000,
    "comments": lambda: b"Content-Type: text/html\n\n" + b"<!--" * 200_000,
    "a number": lambda: b"Content-Type: text/html\n\n&#" + b"9" * 300_000,
    "letters": lambda: b"Content-Type: text/plain; charset=punycode\n\n" + b"a-b" * 200_000,
    "links": lambda: b"Content-Type: text/plain\n\n" + b"http://" * 200_000,
    "blanks": lambda: b"Content-Type: text/html\n\n<a" + b" " * 250_000 + b"x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messages_take_bounded_work(name):
    raw = HOSTILE[name]()
    found = mail.parse(raw)  # work that grows with the square of these would take minutes
    assert len(found.body) <= mail.MOST_TEXT + 1000
    assert len(found.marks) < 5000
    found.text()


def test_deep_message_objects_take_bounded_work():
    inner = MIMEText("bottom")
    for _ in range(3000):
        outer = MIMEMultipart()
        outer.attach(inner)
        inner = outer
    assert mail.parse(inner).body == ""


@examples(150)
@given(st.binary(max_size=400))
def test_any_bytes_are_a_message(raw):
    for head in (
        b"",
        b"Subject: =?utf-8?b?",
        b"Content-Type: text/html; charset=",
        b"Content-Type: multipart/x; boundary=a\n\n--a",
    ):
        found = mail.parse(head + raw)
        found.text().encode("utf-8")
        assert found.tokens()


# pages


@examples(200)
@given(
    st.lists(
        st.sampled_from(
            ["<", ">", "</", "a", "b ", "p", "='", '"', "!--", "-->", "script", "style", "hidden", "&#", ";", "/"]
        )
    )
)
def test_any_page_can_be_read(pieces):
    page = hypertext.visible_text("".join(pieces))
    assert isinstance(page.text, str)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a<p>b<br>c", "a b c"),
        ("V<b>i</b>a<!-- x -->gra", "Viagra"),
        ("a<script>var x = '<p>no</p>';</script>b", "a b"),
        ("a<style>p {x}</style >b", "a b"),
        ("<title>T &amp; t</title>b", "T & t b"),
        ("a<script>never closed", "a"),
        ("a<!-- never closed", "a"),
        ("a <!--> b", "a b"),
        ("1 < 2 &lt; 3", "1 < 2 < 3"),
        ("pr\u200bi\u00adze", "prize"),
        ("<p title='a > b'>x", "x"),
        ("<P HIDDEN>no<p>no</p>no</P>yes", "yes"),
        ("<div style='DISPLAY : none'>no <div>no</div> no</div> yes", "yes"),
        ("<span style=font-size:0>no</span>yes", "yes"),
        ("<span style='font-size:10px'>yes</span>", "yes"),
        ("<span style='opacity:0.9'>yes</span>", "yes"),
        ("<img style='display:none'>yes", "yes"),
        ("<!doctype html><?php x ?><html>yes</html>", "yes"),
        ("&#99999999999; &#x41;&nbsp;b", "\ufffd A b"),
    ],
)
def test_what_a_reader_sees(html, expected):
    assert " ".join(hypertext.visible_text(html).text.split()) == expected


def test_what_a_page_hides_is_told():
    assert hypertext.visible_text("<p hidden>text</p>").hides
    assert not hypertext.visible_text("<p hidden> </p><!-- a --><script>x</script>text").hides
    raw = b"Content-Type: text/html\n\n<p style='display:none'>good words</p>Buy"
    assert "html:hidden" in mail.parse(raw).marks


def test_links_go_to_hosts():
    html = "<a href=//A.Example/x><img src='https://b.example:1'><a HREF=\"http://u:p@c.example?q\">"
    html += "<a href='/d'><a href=mailto:e@f.example>"
    assert hypertext.visible_text(html).hosts == ("a.example", "b.example", "c.example", "f.example")

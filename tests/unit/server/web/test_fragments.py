from skillyard.server.web.fragments import badge, skill_link, words


def test_a_link_to_a_skill_sets_its_namespace_apart():
    assert skill_link("ana/pdf") == ('<a class="skill-name" href="/skills/ana/pdf"><span class="ns">ana/</span>pdf</a>')


def test_a_name_without_a_namespace_stands_alone():
    assert skill_link("pdf") == '<a class="skill-name" href="/skills/pdf">pdf</a>'


def test_nothing_in_a_name_becomes_html():
    link = skill_link("a\"'&b/<i>")

    assert link == (
        '<a class="skill-name" href="/skills/a%22%27%26b/%3Ci%3E">'
        '<span class="ns">a&#34;&#39;&amp;b/</span>&lt;i&gt;</a>'
    )


def test_nothing_in_a_badge_becomes_html():
    assert badge("1.0 <b>", 'bad"') == '<span class="badge bad&#34;">1.0 &lt;b&gt;</span>'


def test_a_badge_needs_no_kind():
    assert badge(3) == '<span class="badge">3</span>'


def test_words_of_services_have_code_and_lead_to_what_they_name():
    assert words("Run `ls <a>` on fb-0123456789ab, not fb-x.") == (
        'Run <code>ls &lt;a&gt;</code> on <a href="/learning/feedback/fb-0123456789ab">fb-0123456789ab</a>, not fb-x.'
    )


def test_a_particle_after_an_id_is_no_part_of_it():
    assert words("피드백 fb-0123456789ab에서") == (
        '피드백 <a href="/learning/feedback/fb-0123456789ab">fb-0123456789ab</a>에서'
    )
